"""What a modern call that asks once costs, next to two plain calls: both are two requests.

    ./bench/asks            builds, measures, prints a table; fails above the limit
    NO_BUILD=1 ./bench/asks --rounds 40

CPU is that of the server, user and system, from the kernel's schedstat; instructions come from callgrind, over stdio, as the
difference of two run lengths. The driver reads each answer before it sends the next request, so both ways have the same
reads, writes and wake-ups. Callgrind has no SHA instructions, so what is hashed weighs more there than it costs.
"""

import argparse, http.client, json, os, socket, statistics, subprocess, sys, tempfile, time

# Of two plain calls: what a call that asks once may cost.
LIMIT = 2.2

SERVER = os.path.join(os.environ.get("CARGO_TARGET_DIR") or os.path.join(os.path.dirname(__file__), "..", "..", "target"), "release", "bench-server")
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0.0"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}
ANSWERS = {"seat": {"action": "accept", "content": {"row": 7}}}


class Server:
    """A server, and the one client of it."""

    number = 0

    def call(self, tool, **more):
        self.number += 1
        params = {"name": tool, "arguments": {"text": "hello, world"}, "_meta": META, **more}
        request = {"jsonrpc": "2.0", "id": self.number, "method": "tools/call", "params": params}
        answer = json.loads(self.send(tool, json.dumps(request, separators=(",", ":")).encode()))
        assert answer["id"] == self.number and "result" in answer, answer
        return answer["result"]

    def plain_twice(self):
        for _ in range(2):
            assert self.call("echo")["content"][0]["text"] == "hello, world"

    def ask_once(self):
        asked = self.call("ask")
        assert asked["resultType"] == "input_required", asked
        done = self.call("ask", requestState=asked["requestState"], inputResponses=ANSWERS)
        assert done["content"][0]["text"] == "hello, world", done

    def cpu(self):
        """What all threads ran, in seconds."""
        total = 0
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{thread}/schedstat") as schedstat:
                total += int(schedstat.read().split()[0])
        return total / 1e9


class Stdio(Server):
    def __init__(self, before=()):
        self.process = subprocess.Popen([*before, SERVER, "stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, tool, message):
        self.process.stdin.write(message + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)


class Http(Server):
    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.process = subprocess.Popen([SERVER, "http", str(port)])
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        for _ in range(200):
            try:
                self.connection.connect()
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, tool, message):
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": tool,
        }
        self.connection.request("POST", "/mcp", message, headers)
        return self.connection.getresponse().read()

    def end(self):
        self.process.terminate()
        self.process.wait(60)


def instructions(way, calls):
    out = os.path.join(tempfile.gettempdir(), f"callgrind.asks.{os.getpid()}")
    server = Stdio(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"])
    for _ in range(calls):
        way(server)
    server.end()
    with open(out) as profile:
        total = next(line for line in profile if line.startswith("summary:"))
    os.remove(out)
    return int(total.split()[1])


def microseconds(road, ways, rounds, calls):
    """CPU of each way, by turns, so that neighbours on the machine disturb them alike: the medians, and that of the ratios."""
    server = road()
    for way in ways:
        for _ in range(calls):
            way(server)
    measured = []
    for _ in range(rounds):
        turn = []
        for way in ways:
            before = server.cpu()
            for _ in range(calls):
                way(server)
            turn.append((server.cpu() - before) / calls * 1e6)
        measured.append(turn)
    server.end()
    medians = [statistics.median(turn[index] for turn in measured) for index in range(len(ways))]
    return medians, statistics.median(turn[1] / turn[0] for turn in measured)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=20, help="turns of both ways, for CPU")
    options.add_argument("--calls", type=int, default=500, help="of each way in a turn")
    options.add_argument("--counted", type=int, default=100, help="of each way, for instructions")
    options = options.parse_args()
    ways = {"two plain calls": Server.plain_twice, "one call that asks once": Server.ask_once}
    columns = [microseconds(road, list(ways.values()), options.rounds, options.calls) for road in (Http, Stdio)]
    n = options.counted
    counts = [(instructions(way, 2 * n) - instructions(way, n)) / n for way in ways.values()]
    print("| | µs of CPU, HTTP | µs of CPU, stdio | instructions, stdio |\n|---|---|---|---|")
    for index, name in enumerate(ways):
        print(f"| {name} | " + " | ".join(f"{medians[index]:.1f}" for medians, _ in columns) + f" | {counts[index]:,.0f} |")
    ratios = [ratio for _, ratio in columns]
    print(f"| ratio (HTTP: at most {LIMIT}) | {ratios[0]:.2f} | {ratios[1]:.2f} | {counts[1] / counts[0]:.2f} |")
    sys.exit(ratios[0] > LIMIT)


main()
