#!/usr/bin/env node
/** Deploys contracts: `node deploy.js --help`. The build compiles it from deploy/. */
import {existsSync} from "node:fs";

const MAIN = new URL("dist/deploy/main.js", import.meta.url);

if (existsSync(MAIN)) await import(MAIN.href);
else {
  process.stderr.write("error: the contracts are not built: run npm run build\n");
  process.exitCode = 1;
}
