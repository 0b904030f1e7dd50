#!/usr/bin/env python3
"""Drives the load generator over all servers, in turn, and prints tables of ratios; standard library only. Started by ../compare."""
import argparse, json, os, re, shlex, signal, socket, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
B = f"{HERE}/rust/target/release"
LG, BARE, RMCP = f"{B}/loadgen", f"{B}/peer-bare", f"{B}/peer-rmcp"
OURS = os.environ.get("BENCH_SERVER", f"{HERE}/../../target/release/bench-server")
CONTROL = "control"

HTTP = {  # name -> command; {PORT} is filled in
    "control": [BARE, "http", "{PORT}"],
    "control-raw": [BARE, "http-raw", "{PORT}"],
    "control-value": [BARE, "http-value", "{PORT}"],
    "rmcp": [RMCP, "http", "{PORT}"],
    "rmcp-sse": [RMCP, "http-sse", "{PORT}"],
    "turnbuckle": [OURS, "http", "{PORT}"],
}
STDIO = {
    "control": [BARE, "stdio"],
    "control-raw": [BARE, "stdio-raw"],
    "control-tokio": [BARE, "stdio-tokio"],
    "rmcp": [RMCP, "stdio"],
    "turnbuckle": [OURS, "stdio"],
}
HTTP_SC = [  # (key, mode, op, concurrency)
    ("L echo100", "legacy", "echo-small", 16), ("L echo100K", "legacy", "echo-large", 16), ("L list", "legacy", "list", 16),
    ("L echo100 c1", "legacy", "echo-small", 1),
    ("M echo100", "modern", "echo-small", 16), ("M echo100K", "modern", "echo-large", 16), ("M list", "modern", "list", 16),
    ("M add", "modern", "add", 16), ("M echo100 c1", "modern", "echo-small", 1),
]
STDIO_SC = [
    ("L echo100", "legacy", "echo-small", 16), ("L echo100K", "legacy", "echo-large", 4), ("L list", "legacy", "list", 16),
    ("L echo100 w1", "legacy", "echo-small", 1),
    ("M echo100", "modern", "echo-small", 16), ("M list", "modern", "list", 16),
]
CG_SC = [("L echo100", "legacy", "echo-small", 2000), ("L echo100K", "legacy", "echo-large", 200), ("L list", "legacy", "list", 300),
         ("M echo100", "modern", "echo-small", 2000), ("M list", "modern", "list", 300)]

ap = argparse.ArgumentParser()
ap.add_argument("extra", nargs="*", help="NAME=http://host:port/path:PID | NAME='cmd {PORT}' | NAME='stdio cmd'")
ap.add_argument("--rounds", type=int, default=3)
ap.add_argument("--secs", type=float, default=1.5)
ap.add_argument("--only", default="rmcp,turnbuckle", help="comma list of built-in servers to run (the control always runs; also control-raw, control-value, control-tokio, rmcp-sse)")
ap.add_argument("--parts", default="http,stdio,sessions,listen,cold,callgrind", help="also callgrind-stdio, callgrind-http")
ap.add_argument("--server-cpu", default="0")
ap.add_argument("--gen-cpu", default="1")
ap.add_argument("--client", default="raw", choices=["raw", "hyper"])
ap.add_argument("--scenarios", default="", help="regular expression over scenario names, e.g. 100K or '^M'")
ap.add_argument("--malloc-tuned", action="store_true", help="glibc's trim and mmap thresholds off for all servers (matters for 100 KB bodies)")
ap.add_argument("--out", default=f"{HERE}/results/latest")
A = ap.parse_args()
PARTS = A.parts.split(",")
if A.malloc_tuned: os.environ.update(MALLOC_TRIM_THRESHOLD_="1000000000", MALLOC_MMAP_THRESHOLD_="1000000000")
HTTP_SC, STDIO_SC, CG_SC = ([s for s in l if re.search(A.scenarios, s[0])] for l in (HTTP_SC, STDIO_SC, CG_SC))

running = {}   # name -> (url, pid)
procs = []
def note(*a): print(*a, file=sys.stderr, flush=True)
def port_of():
    s = socket.socket(); s.bind(("127.0.0.1", 0)); p = s.getsockname()[1]; s.close(); return p
def start_http(cmd, pre=(), wait=60):
    port = port_of()
    p = subprocess.Popen(["taskset", "-c", A.server_cpu, *pre, *[c.replace("{PORT}", str(port)) for c in cmd]],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    procs.append(p)
    end = time.time() + wait
    while time.time() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close(); break
        except OSError: time.sleep(0.05)
        if p.poll() is not None: raise RuntimeError(f"{cmd} exited {p.returncode}")
    return f"http://127.0.0.1:{port}/mcp", p
def stop(p, sig=signal.SIGTERM, wait=10):
    if p.poll() is None:
        p.send_signal(sig)
        try: p.wait(wait)
        except subprocess.TimeoutExpired: p.kill(); p.wait()
    if p in procs: procs.remove(p)
def lg(*args, timeout=60):
    try: r = subprocess.run([LG, *map(str, args)], capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired: return {"error": f"loadgen ran past {timeout} s"}
    try: d = json.loads(r.stdout.strip().splitlines()[-1])
    except Exception: d = {"error": (r.stderr or "no output")[-300:]}
    if d.get("first_error"): d["error"] = d["first_error"]
    return d

http, stdio, given = dict(HTTP), dict(STDIO), {}
if A.only:
    keep = set(A.only.split(",")) | {CONTROL}
    http = {k: v for k, v in http.items() if k in keep}
    stdio = {k: v for k, v in stdio.items() if k in keep}
for e in A.extra:
    name, spec = e.split("=", 1)
    m = re.fullmatch(r"(http://\S+):(\d+)", spec)
    if m:
        given[name] = (m[1], int(m[2]))
        subprocess.run(["taskset", "-acp", A.server_cpu, m[2]], stdout=subprocess.DEVNULL)
    elif "{PORT}" in spec: http[name] = shlex.split(spec)
    else: stdio[name] = shlex.split(spec)

R = {"http": {}, "stdio": {}, "sessions": {}, "listen": {}, "cold": {}, "callgrind": {}, "callgrind_http": {}, "rss": {}, "size": {}, "errors": []}
def add(part, name, key, d):
    if "error" in d: R["errors"].append([part, name, key, d["error"][:300]]); note("  error:", part, name, key, d["error"][:200]); return
    R[part].setdefault(name, {}).setdefault(key, []).append(d)

def run_http():
    for n, c in http.items():
        url, p = start_http(c); running[n] = (url, p.pid, p)
    for n, (url, pid) in given.items(): running[n] = (url, pid, None)
    for n, (url, pid, _) in running.items():     # warm-up
        for mode in ("legacy", "modern"):
            for op in ("echo-small", "list"):
                lg("http", "--cpu", A.gen_cpu, "--url", url, "--pid", pid, "--mode", mode, "--op", op, "--secs", 0.5, "--warm", 0)
    for r in range(A.rounds):
        for key, mode, op, conc in HTTP_SC:
            for n, (url, pid, _) in running.items():
                if n == "rmcp-sse" and mode == "legacy": continue   # the same path as rmcp's
                d = lg("http", "--cpu", A.gen_cpu, "--client", A.client, "--url", url, "--pid", pid, "--mode", mode, "--op", op,
                       "--conc", conc, "--secs", A.secs, "--warm", 0.3)
                d["round"] = r; add("http", n, key, d)
        note(f"http round {r + 1}/{A.rounds}")
    for n, (url, pid, p) in running.items():
        try: R["rss"][n] = int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) / 1024
        except Exception: pass
        if p: stop(p)

def run_stdio():
    for r in range(A.rounds):
        for key, mode, op, w in STDIO_SC:
            for n, c in stdio.items():
                d = lg("stdio", "--cpu", A.gen_cpu, "--child-cpu", A.server_cpu, "--mode", mode, "--op", op, "--window", w,
                       "--secs", A.secs, "--warm", 0.3, "--", *c)
                d["round"] = r; add("stdio", n, key, d)
        note(f"stdio round {r + 1}/{A.rounds}")

def run_sessions():
    for n, c in http.items():
        if n in ("control-raw", "control-value", "rmcp-sse"): continue
        for _ in range(A.rounds):
            url, p = start_http(c)
            d = lg("sessions", "--cpu", A.gen_cpu, "--url", url, "--pid", p.pid, "--base", 200, "--n", 1000)
            add("sessions", n, "s", d); stop(p)
    for n, (url, pid) in given.items():
        add("sessions", n, "s", lg("sessions", "--cpu", A.gen_cpu, "--url", url, "--pid", pid, "--base", 200, "--n", 1000))
    note("sessions done")

def run_listen():
    # Only ours has a tool that publishes; each process needs a file for each listener, so the limit is raised as far as it goes.
    import resource
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    n = min(10_000, hard - 200)
    for _ in range(A.rounds):
        url, p = start_http(HTTP["turnbuckle"])
        add("listen", "turnbuckle", "l", lg("listen", "--cpu", A.gen_cpu, "--url", url, "--pid", p.pid, "--n", n, timeout=180)); stop(p)
    note("listen done")

def run_cold():
    for n, c in stdio.items():
        add("cold", n, "c", lg("cold", "--mode", "legacy", "--cpu", A.gen_cpu, "--child-cpu", A.server_cpu, "--reps", 11, "--", *c))
        exe = c[0]
        if os.path.isfile(exe) and open(exe, "rb").read(4) == b"\x7fELF":
            tmp = os.path.join(tempfile.gettempdir(), f".strip.{os.getpid()}")
            subprocess.run(["strip", "-o", tmp, exe]); R["size"][n] = os.path.getsize(tmp) / 1e6; os.unlink(tmp)
    note("cold done")

def is_elf(c): return os.path.isfile(c[0]) and open(c[0], "rb").read(4) == b"\x7fELF" and "python" not in c[0]
def ir(path):
    for l in open(path, errors="replace"):
        if l.startswith(("summary:", "totals:")): return int(l.split()[1])
def run_callgrind():
    out = os.path.join(tempfile.gettempdir(), f"callgrind.perf.{os.getpid()}")
    vg = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"]
    def once_stdio(c, mode, op, n, w):
        lg("stdio", "--mode", mode, "--op", op, "--window", w, "--requests", n, "--", *vg, *c, timeout=600); v = ir(out); os.unlink(out); return v
    def once_http(c, mode, op, n):
        url, p = start_http(c, vg)
        lg("http", "--url", url, "--mode", mode, "--op", op, "--conc", 4, "--requests", n, timeout=600)
        stop(p, signal.SIGTERM, 30); v = ir(out); os.unlink(out); return v
    for key, mode, op, n in CG_SC:
        for name, c in stdio.items() if {"callgrind", "callgrind-stdio"} & set(PARTS) else ():
            if not is_elf(c): continue
            try: R["callgrind"].setdefault(name, {})[key] = (once_stdio(c, mode, op, 2 * n, 4) - once_stdio(c, mode, op, n, 4)) / n
            except Exception as e: R["errors"].append(["callgrind", name, key, str(e)])
        for name, c in http.items() if {"callgrind", "callgrind-http"} & set(PARTS) else ():
            if not is_elf(c) or (name == "rmcp-sse" and mode == "legacy"): continue
            try: R["callgrind_http"].setdefault(name, {})[key] = (once_http(c, mode, op, 2 * n) - once_http(c, mode, op, n)) / n
            except Exception as e: R["errors"].append(["callgrind_http", name, key, str(e)])
        note("callgrind", key)

med = lambda v: statistics.median(v) if v else None
def ratio(part, n, k, f):
    """Median over rounds of (this server / control in the same round)."""
    c = {d["round"]: d[f] for d in R[part].get(CONTROL, {}).get(k, [])}
    return med([d[f] / c[d["round"]] for d in R[part].get(n, {}).get(k, []) if c.get(d["round"])])
def fmt(x):
    if x is None: return "-"
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.1f}" if abs(x) >= 10 else f"{x:.2f}" if abs(x) >= 0.1 else f"{x:.4f}"
def table(title, rows, cols, cell):
    o = [f"### {title}", "", "| server | " + " | ".join(cols) + " |", "|---" * (len(cols) + 1) + "|"]
    for r in rows: o.append(f"| {r} | " + " | ".join(cell(r, c) for c in cols) + " |")
    return "\n".join(o) + "\n"
def tables():
    o = []
    for part, sc, label in (("http", HTTP_SC, "HTTP"), ("stdio", STDIO_SC, "stdio")):
        rows, keys = list(R[part]), [s[0] for s in sc]
        if not rows: continue
        def m(f, rt=True):
            def cell(n, k):
                v = med([d[f] for d in R[part].get(n, {}).get(k, [])])
                if v is None: return "-"
                q = ratio(part, n, k, f) if rt and n != CONTROL else None
                return fmt(v) + (f" (x{fmt(q)})" if q is not None else "")
            return cell
        o.append(table(f"{label}: server CPU-seconds per 10k requests (ratio to control in the same round; lower is better)", rows, keys, m("cpu_per_10k")))
        o.append(table(f"{label}: requests/s, server on one core (ratio to control; higher is better)", rows, keys, m("rps")))
        o.append(table(f"{label}: latency p50 / p99, microseconds", rows, keys, lambda n, k: m("p50_us", False)(n, k) + " / " + m("p99_us", False)(n, k)))
        if part == "http": o.append(table("HTTP: body bytes of a response", rows, keys, m("resp_bytes", False)))
    for part, label in (("callgrind", "stdio"), ("callgrind_http", "HTTP")):
        if R[part]:
            c = R[part].get(CONTROL, {})
            o.append(table(f"callgrind, {label}: user-space instructions per request (ratio to control)", list(R[part]), [s[0] for s in CG_SC],
                lambda n, k: "-" if R[part][n].get(k) is None else fmt(R[part][n][k]) + (f" (x{fmt(R[part][n][k] / c[k])})" if c.get(k) and n != CONTROL else "")))
    names = [n for n in dict.fromkeys([*http, *given, *stdio]) if n in R["rss"] or n in R["cold"]]
    if names:
        def foot(n, k):
            g = lambda part, key, f: med([d[f] for d in R[part].get(n, {}).get(key, [])])
            return fmt({"peak RSS http MB": R["rss"].get(n), "idle RSS http MB": g("sessions", "s", "rss_start_mb"),
                        "MB per 1,000 sessions": g("sessions", "s", "mb_per_1000"), "peak RSS stdio MB": max((d["peak_rss_mb"] for v in R["stdio"].get(n, {}).values() for d in v), default=None),
                        "cold start ms": g("cold", "c", "cold_ms"), "stripped binary MB": R["size"].get(n)}[k])
        o.append(table("Footprint", names, ["peak RSS http MB", "idle RSS http MB", "MB per 1,000 sessions", "peak RSS stdio MB", "cold start ms", "stripped binary MB"], foot))
    if R["listen"]:
        cols = {"listeners": "listeners", "RSS idle MB": "rss_idle_mb", "KB per listener": "kb_per_listener", "CPU ms a second while idle": "idle_cpu_ms_per_s",
                "CPU ms to tell all of one change": "publish_cpu_ms", "ms until all have heard": "publish_wall_ms"}
        o.append(table("Open subscriptions/listen streams over HTTP", list(R["listen"]), list(cols), lambda n, k: fmt(med([d[cols[k]] for d in R["listen"][n]["l"]]))))
    if R["errors"]: o.append("Errors:\n" + "\n".join(f"- {' '.join(map(str, e))}" for e in R["errors"]) + "\n")
    return "\n".join(o)

def save():
    os.makedirs(os.path.dirname(A.out), exist_ok=True)
    json.dump(R, open(A.out + ".json", "w"))
    open(A.out + ".md", "w").write(tables())

try:
    for part, f in (("http", run_http), ("stdio", run_stdio), ("sessions", run_sessions), ("listen", run_listen), ("cold", run_cold), ("callgrind", run_callgrind)):
        if any(q.split("-")[0] == part for q in PARTS): f(); save()
except KeyboardInterrupt: note("interrupted")
finally:
    for p in list(procs): stop(p)
    save()
print(tables())
