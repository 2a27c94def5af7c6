#!/usr/bin/env node
/**
 * Entry of the `proofd` binary. Everything else is loaded after the checks below: other code does not parse in versions
 * of Node that proofd does not run on, and loading needs open files. So this file imports nothing and has nothing that
 * Node 12 does not parse.
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
