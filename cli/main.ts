#!/usr/bin/env node
/**
 * Entry of the `proofd` binary. It loads everything else after the checks below, because other code does not parse in
 * old versions of Node. So this file imports nothing, and Node 12 parses it.
 */
const [major, minor] = process.versions.node.split(".").map(Number) as [number, number];
// "engines" of package.json.
if ((major === 20 && minor >= 19) || (major === 22 && minor >= 3) || major > 22)
  void import("./start.ts").then(({start}) => start());
else {
  const found = `${process.version} (${process.execPath})`;
  process.stderr.write(`error: expected Node 20 (20.19 or later), or 22.3 or later; got ${found}\n`);
  process.exit(2);
}
