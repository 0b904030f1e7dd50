// A browser that connects to this machine only, and a page in it.

import { TOKEN } from "./fake.mjs";

export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-proxy-server",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/** Opens the page at the binary's address. Throws if the page reports an error. */
export async function openPage(
  browser,
  url,
  { width = 1280, height = 800, theme = "light", hash = "", token = TOKEN } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    hasTouch: width < 500,
    isMobile: width < 500,
    acceptDownloads: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.errors = [];
  page.hosts = new Set();
  page.on("pageerror", (error) => page.errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.errors.push(message.text()));
  page.on("request", (request) => request.url().startsWith("http") && page.hosts.add(new URL(request.url()).host));
  await page.goto(`${url}${hash || "#"}${hash ? (hash.includes("?") ? "&" : "?") : ""}token=${token}`);
  await page.waitForSelector("tb-page main > *", { state: "attached" });
  return page;
}

/** Presses the key that calls, once the form is shown. */
export const run = async (page) => {
  await page.locator("tb-panel .callform h1").waitFor();
  await page.keyboard.press("Control+Enter");
};

/** Calls, and waits until the page shows this call. An earlier call may look the same. */
export const call = async (page) => {
  await page.locator("tb-panel .callform h1").waitFor();
  const before = await page.evaluate(() => document.querySelector("tb-run")?.n ?? 0);
  await run(page);
  await page.waitForFunction((n) => (document.querySelector("tb-run")?.n ?? 0) > n, before);
};
