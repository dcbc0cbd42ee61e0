// Bundles the unit tests for whatever Node runs this, and runs them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(tmpdir(), "pitot-page-"));
try {
    await build({
        entryPoints: [join(here, "unit.test.ts")],
        bundle: true,
        platform: "node",
        format: "esm",
        outfile: join(out, "unit.test.mjs"),
    });
    const { status } = spawnSync(process.execPath, ["--test", join(out, "unit.test.mjs")], {
        stdio: "inherit",
    });
    process.exitCode = status ?? 1;
} finally {
    rmSync(out, { recursive: true, force: true });
}
