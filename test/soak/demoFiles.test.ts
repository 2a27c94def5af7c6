/** The files of the demo chain: they are what its story makes, and the chain does what they say. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {after, test} from "node:test";
import {DEMO_FOLDER} from "../../demo/artefact.ts";
import {decodeBlockHead} from "../../evm/execution/blockHead.ts";
import {executeChainOn, readChainFiles} from "../support/chains/executedChain.ts";
import type {DemoFiles} from "../support/demo/demoStory.ts";
import {OwnThread} from "../support/processes/ownThread.ts";

const thread = new OwnThread();

after(() => thread.close());

test("making the demo chain again gives the same bytes", async () => {
  const module = new URL("../support/demo/demoStory.js", import.meta.url);
  const {genesis, chain, addresses} = await thread.run<DemoFiles>(module, "makeDemoFiles");
  assert.equal(genesis, readFileSync(join(DEMO_FOLDER, "genesis.json"), "utf8"));
  assert.deepEqual(Buffer.from(chain), readFileSync(join(DEMO_FOLDER, "chain.rlp")));
  assert.equal(addresses, readFileSync(join(DEMO_FOLDER, "addresses.json"), "utf8"));
});

test("the demo chain executes, and deletes, resets, clears and delegates what it says", async () => {
  const {blocks} = await readChainFiles(DEMO_FOLDER);
  const addresses = JSON.parse(readFileSync(join(DEMO_FOLDER, "addresses.json"), "utf8"));
  const {accounts, differences, roots} = await executeChainOn(thread, {
    folder: DEMO_FOLDER,
    rootsOf: blocks.length,
  });
  const {stateRoot} = decodeBlockHead(blocks.at(-1) ?? new Uint8Array(0), "the last block");
  assert.deepEqual(roots.get(blocks.length), stateRoot);
  const changesOf = (block: number) => differences[block]?.changes ?? assert.fail("no such block");
  const changeOf = (address: string, block: number) => changesOf(block).get(address);

  assert.equal(differences.length - 1, addresses.lastBlock);
  assert.ok(accounts.size >= 1000, `${accounts.size} accounts`);
  assert.ok(changesOf(addresses.deleted.deletedIn).has(addresses.deleted.address));
  assert.equal(changeOf(addresses.deleted.address, addresses.deleted.deletedIn), undefined);
  assert.equal(accounts.has(addresses.deleted.address), false);
  assert.equal(changeOf(addresses.recreated.address, addresses.recreated.resetIn)?.reset, true);
  assert.equal(accounts.get(addresses.recreated.address)?.balance, 10n ** 18n);
  assert.equal(accounts.get(addresses.emptied.address)?.balance, 0n);
  assert.ok((accounts.get(addresses.emptied.address)?.code.length ?? 0) > 0);
  assert.equal(changeOf(addresses.delegated.address, addresses.delegated.from)?.code?.length, 23);
  assert.equal(changeOf(addresses.delegated.address, addresses.delegated.until)?.code?.length, 0);
  assert.equal(accounts.get(addresses.ledger.address)?.slots.size, 1000 - 200 + 50 - 10 + 5);
  assert.equal(accounts.get(addresses.token.address)?.slots.has(addresses.token.clearedSlot), false);
  assert.ok(accounts.get(addresses.token.address)?.slots.has(addresses.token.holderBalanceSlot));
  assert.equal(accounts.get(addresses.oldLedger.address)?.slots.size, 2);
  assert.equal(accounts.has(addresses.absent.address), false);
  // fillAndRevert: gas was paid, nothing else changed.
  assert.equal(changeOf(addresses.ledger.address, 28), undefined);
});
