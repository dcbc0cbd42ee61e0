// A picture of a page for scripts/screenshot: screenshot.mjs PAGE.html OUT.png
// CHROMIUM is the browser, PACKAGES the folder that playwright-core lies in.
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [page, out] = process.argv.slice(2);
const { CHROMIUM, PACKAGES } = process.env;
const { chromium } = await import(pathToFileURL(join(PACKAGES, "playwright-core/index.mjs")));

const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--headless", "--no-sandbox", "--disable-gpu"],
});
try {
    const shown = await browser.newPage({
        viewport: { width: 1200, height: 1600 },
        deviceScaleFactor: 1.5,
        colorScheme: "light",
    });
    await shown.goto(pathToFileURL(resolve(page)).href);
    await shown.waitForSelector("html[data-ready]");
    // Below the head and its warnings, which may be many: the first row of charts.
    const height = await shown.$eval("section.suite", (section) => {
        const legend = document.querySelector(".legend");
        window.scrollTo(0, section.offsetTop - legend.offsetHeight);
        const boxes = [...section.querySelectorAll("figure")].map((f) => f.getBoundingClientRect());
        return Math.max(...boxes.filter((b) => b.top === boxes[0].top).map((b) => b.bottom));
    });
    await shown.screenshot({ path: out, clip: { x: 0, y: 0, width: 1200, height } });
} finally {
    await browser.close();
}
