/** The rule that tests of leaves' keys check: every tree is, to the byte, that of the reference. */
import assert from "node:assert/strict";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import type {Engine} from "../../../workers/engine.ts";
import type {RandomChain} from "../chains/randomBlocks.ts";
import {joinRange, type KeyOf, keysOf, rangeParts} from "../reference/rangeBytes.ts";
import type {ReferenceState} from "../reference/referenceState.ts";
import {proveLeaves} from "./proveLeaves.ts";

const COUNT = 4096;

/** @param keyOf - which keys are known. Default: all that the blocks name */
export async function checkEveryLeaf(
  engine: Engine,
  state: ReferenceState,
  {lines, addresses}: Pick<RandomChain, "lines" | "addresses">,
  blocks: readonly number[],
  keyOf: KeyOf = keysOf(state.suite, lines),
): Promise<void> {
  for (const number of blocks) {
    const block = {number, hash: lines[number]?.hash as string};
    for (const text of [undefined, ...addresses]) {
      const address = text === undefined ? undefined : decodeHex(text.toLowerCase());
      const bytes = await proveLeaves(engine, {block: number, address, from: 0, count: COUNT});
      if (typeof bytes === "string") assert.fail(bytes);
      const expected = joinRange(rangeParts(state, block, text, 0, COUNT, keyOf));
      assert.equal(encodeHex(bytes), encodeHex(expected), `${text} at block ${number}`);
    }
  }
}
