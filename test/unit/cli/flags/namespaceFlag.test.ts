import assert from "node:assert/strict";
import {test} from "node:test";
import {SERVE_FLAGS} from "../../../../cli/flags/serveFlags.ts";
import {readServiceOptions} from "../../../../cli/flags/serveOptions.ts";
import {MethodTable} from "../../../../server/methods/table.ts";
import {assertUsageError, readFlags} from "../../../support/run/flagReading.ts";

function read(args: readonly string[]): unknown {
  return readFlags(SERVE_FLAGS, readServiceOptions, args).namespace;
}

function assertRefused(name: string, message: RegExp): void {
  assertUsageError(() => read(["--namespace", name]), message);
}

test("a namespace is letters and digits, the first a letter", () => {
  for (const name of ["linea", "L2", "a".repeat(32)]) assert.equal(read(["--namespace", name]), name);
  assert.equal(read([]), undefined);
  for (const name of ["", "2l", "a_b", "a-b", "a.b", "a b", "\u00e9", "a".repeat(33)])
    assertRefused(name, /Expected up to 32 letters and digits/);
});

test("the prefixes of other methods are refused, in any case", () => {
  const prefixes = new MethodTable("linea").names.map(name => name.split(/[_.]/)[0] as string);
  for (const name of [...prefixes, "admin", "ETH", "Chain"])
    if (name !== "linea") assertRefused(name, /Expected another name than chain, eth,/);
});
