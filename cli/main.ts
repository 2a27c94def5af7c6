#!/usr/bin/env node
/**
 * Entry of the `proofd` binary. It loads everything else after the checks below, because other code does not parse in
 * old versions of Node. So this file imports nothing, and Node 12 parses it.
 */
const [major, minor] = process.versions.node.split(".").map(Number) as [number, number];
// "engines" of package.json.
if ((major === 20 && minor >= 19) || (major === 22 && minor >= 3) || major > 22)
  void import("./start.ts").then(
    ({start}) => start(),
    error => {
      if (error.code !== "EMFILE") throw error;
      const {userLimits} = process.report.getReport() as unknown as {
        userLimits: {open_files: {soft: number}};
      };
      // As processLimits.ts would, if it could be loaded.
      process.stderr.write(
        `error: this process may open ${userLimits.open_files.soft} files (ulimit -n) but needs at least 128. Raise the limit\n`,
      );
      process.exit(1);
    },
  );
else {
  const found = `${process.version} (${process.execPath})`;
  process.stderr.write(`error: expected Node 20 (20.19 or later), or 22.3 or later; got ${found}\n`);
  process.exit(2);
}
