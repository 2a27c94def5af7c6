import assert from "node:assert/strict";
import {test} from "node:test";
import {runChild} from "../../support/processes/childProcesses.ts";

const CODE = `
const {assertInvariant} = await import(${JSON.stringify(import.meta.resolve("../../../server/invariant.js"))});
try {
  assertInvariant(false, "a count is not negative");
} catch {}
setInterval(() => {}, 1000);
`;

test("a broken invariant ends the process with its name, even if the error is caught", async () => {
  const {code, stderr} = await runChild(process.execPath, ["--input-type=module", "-e", CODE]);
  assert.equal(code, 1);
  assert.match(stderr, /broken invariant: a count is not negative/);
});
