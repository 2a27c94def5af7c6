import assert from "node:assert/strict";
import {test} from "node:test";
import {parseHistory, parseNamespace} from "../../../../cli/flags/flagValues.ts";
import {MethodTable} from "../../../../server/methods/table.ts";

test("a history is all, finalizations, or a number of blocks", () => {
  assert.deepEqual(parseHistory("all"), {kind: "all"});
  assert.deepEqual(parseHistory("finalizations"), {kind: "finalizations"});
  assert.deepEqual(parseHistory("1000"), {kind: "newest", blocks: 1000});
});

test("no history keeps less than one block, and none has other words", () => {
  for (const text of ["0", "-1", "1.5", "", "none", "0x10", "1000000000000000"])
    assert.throws(() => parseHistory(text), /Expected all, finalizations, or a number of blocks/);
});

test("a namespace is letters and digits, the first a letter", () => {
  for (const name of ["linea", "L2", "a".repeat(32)]) assert.equal(parseNamespace(name), name);
  for (const name of ["", "2l", "a_b", "a-b", "a.b", "a b", "\u00e9", "a".repeat(33)])
    assert.throws(() => parseNamespace(name), /Expected up to 32 letters and digits/);
});

test("the prefixes of other methods are refused, in any case", () => {
  const prefixes = new MethodTable("linea").names.map(name => name.split(/[_.]/)[0] as string);
  for (const name of [...prefixes, "admin", "ETH", "Chain"])
    if (name !== "linea") assert.throws(() => parseNamespace(name), /Expected another name than chain, eth,/);
});
