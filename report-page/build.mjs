// Bundles the page into one file, with places for the data: build.mjs OUT.html
// The bytes depend on the sources and the lock file alone.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (out === undefined) {
    throw new Error("build.mjs wants the name of the file to write");
}

const made = await build({
    absWorkingDir: here,
    entryPoints: ["src/main.ts"],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none", // every licence is in the page whole, see below
    metafile: true,
    write: false,
});
// `</script` and `<!--` would end or hide the script; in JavaScript they can only stand in strings,
// templates and regular expressions, where the backslash changes nothing.
const script = made.outputFiles[0].text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");

/** Folders of the packages that are in the bundle. */
const packages = new Set();
for (const [input, { bytesInOutput }] of Object.entries(Object.values(made.metafile.outputs)[0].inputs)) {
    const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found !== null && bytesInOutput > 0) {
        packages.add(found[1]);
    }
}
const notices = [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(here, folder, "package.json"), "utf8"));
    for (const file of ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE"]) {
        try {
            return `${name} ${version} (${license})\n\n${readFileSync(join(here, folder, file), "utf8").trim()}\n`;
        } catch (error) {
            if (error.code !== "ENOENT") {
                throw error;
            }
        }
    }
    throw new Error(`${name} ${version} is in the bundle and brings no licence text`);
});

const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const style = await build({
    absWorkingDir: here,
    entryPoints: ["src/page.css"],
    minify: true,
    charset: "utf8",
    write: false,
});
const parts = {
    SCRIPT_HASH: createHash("sha256").update(script).digest("base64"),
    STYLE: style.outputFiles[0].text.trim(),
    LICENCES: escape(notices.join("\n----\n\n")),
    SCRIPT: script,
};
// One pass, so that nothing within a part is taken for a place.
const html = readFileSync(join(here, "src/page.html"), "utf8").replace(
    /@(SCRIPT_HASH|STYLE|LICENCES|SCRIPT)@/g,
    (_, name) => parts[name],
);
if (html.split("@DATA@").length !== 2) {
    throw new Error("the page must have exactly one place for the data");
}
writeFileSync(out, html);
