/** Trusted roots read from contracts on anvil. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {encodeHex, layer1Root} from "../../../client/client.ts";
import {createAnvilTest} from "../../support/processes/anvilTest.ts";

const ADDRESS = `0x${"a1".repeat(20)}`;
const ROLLUP = `0x${"d1".repeat(20)}`;
/** Answers any call with the value of the slot that its argument names. */
const SLOT_READER = "0x6004355460005260206000f3";

const testLayer1 = createAnvilTest(["--slots-in-an-epoch", "1"]);

const word = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;

testLayer1(
  "the rollup's contract gives the roots of blocks that it finalized, and ROOT_UNKNOWN for all others",
  async node => {
    await node.request("anvil_setCode", ROLLUP, SLOT_READER);
    await node.request("anvil_setStorageAt", ROLLUP, word(7), word(0x1234));
    await node.request("anvil_mine", "0x4");
    const rootOf = layer1Root({url: node.url, contract: ROLLUP});
    assert.equal(encodeHex((await rootOf(7n)) as Uint8Array), word(0x1234));
    await assert.rejects(async () => rootOf(8n), {name: "RpcError", code: "ROOT_UNKNOWN"});
    // Finalized roots never change, so this one is remembered, whatever a caller writes into its array.
    await node.request("anvil_setStorageAt", ROLLUP, word(7), word(0x9999));
    await node.request("anvil_mine", "0x4");
    ((await rootOf(7n)) as Uint8Array).fill(0);
    assert.equal(encodeHex((await rootOf(7n)) as Uint8Array), word(0x1234));
    const latest = layer1Root({url: node.url, contract: ROLLUP, at: "latest"});
    for (const root of [0x9999, 0x7777]) {
      await node.request("anvil_setStorageAt", ROLLUP, word(7), word(root));
      assert.equal(encodeHex((await latest(7n)) as Uint8Array), word(root));
    }
    const nowhere = layer1Root({url: node.url, contract: ADDRESS});
    await assert.rejects(async () => nowhere(7n), {code: "ROOT_UNKNOWN"});
  },
);

test("an address that is none is refused when the reader is made", () => {
  assert.throws(() => layer1Root({url: "http://127.0.0.1", contract: "0x12"}), TypeError);
});
