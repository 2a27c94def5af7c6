/** The slots that are read of system contracts after a block, against those that the contracts' own code writes. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import {createBlock} from "@ethereumjs/block";
import {Common, Hardfork, Mainnet} from "@ethereumjs/common";
import {createEVM} from "@ethereumjs/evm";
import {SimpleStateManager} from "@ethereumjs/statemanager";
import {type Address, createAddressFromString, SYSTEM_ADDRESS} from "@ethereumjs/util";
import {DEMO_FOLDER} from "../../../../../demo/artefact.ts";
import type {BlockBesidesTraces} from "../../../../../nodes/blocks/trace/blockBesidesTraces.ts";
import {findSystemContracts, listUntracedWrites} from "../../../../../nodes/blocks/trace/untracedWrites.ts";
import type {Node} from "../../../../../nodes/rpc/node.ts";
import {toHex} from "../../../../../storage/hex.ts";

const {contracts}: {contracts: {address: string; code: string}[]} = JSON.parse(
  readFileSync(join(DEMO_FOLDER, "systemContracts.json"), "utf8"),
);
const NUMBER = 20_000;
const TIMESTAMP = 1_735_689_613n;

const slot = (n: number): Uint8Array => Buffer.from(n.toString(16).padStart(64, "0"), "hex");

class WatchedState extends SimpleStateManager {
  readonly written = new Set<string>();

  override putStorage(address: Address, key: Uint8Array, value: Uint8Array): Promise<void> {
    this.written.add(toHex(key));
    return super.putStorage(address, key, value);
  }
}

/** @returns the slots that one system call writes. @param head - of a queue up to place 40; 0 in a contract that has none */
async function slotsWritten({address, code}: {address: string; code: string}, head: number) {
  const common = new Common({chain: Mainnet, hardfork: Hardfork.Prague});
  const state = new WatchedState();
  const to = createAddressFromString(address);
  await state.putCode(to, Buffer.from(code.slice(2), "hex"));
  if (head > 0)
    for (const [key, value] of [1, head, 40].entries())
      await state.putStorage(to, slot(key + 1), slot(value));
  state.written.clear();
  const evm = await createEVM({common, stateManager: state});
  const block = createBlock({header: {number: NUMBER, timestamp: TIMESTAMP}}, {common});
  const caller = createAddressFromString(SYSTEM_ADDRESS);
  const {execResult} = await evm.runCall({caller, to, data: slot(7), block, gasLimit: 30_000_000n});
  assert.equal(execResult.exceptionError, undefined);
  return state.written;
}

test("of each system contract, the slots that its code writes outside of transactions are read", async () => {
  assert.equal(contracts.length, 4);
  const node = {requestAll: async calls => calls.map(() => "0x01")} as Node;
  const block = {header: {number: NUMBER, timestamp: TIMESTAMP}} as BlockBesidesTraces;
  const listed = listUntracedWrites(block, await findSystemContracts(node, "latest"));
  for (const contract of contracts) {
    const isQueue = /(7002|7251)$/.test(contract.address);
    // A queue that is longer than what a block takes of it, and one that the block empties.
    const heads = isQueue ? [1, 39] : [0];
    const written = await Promise.all(heads.map(head => slotsWritten(contract, head)));
    const {slots} = listed.find(({address}) => address === contract.address) ?? {slots: []};
    assert.deepEqual(
      [...slots].sort(),
      [...new Set(written.flatMap(one => [...one]))].sort(),
      contract.address,
    );
  }
});
