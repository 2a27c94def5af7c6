/** eth_getProof over a real socket at states that the conformance chain does not have, and of a store with a damaged trie. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {MAX_U48, numberOfKey, pageKey} from "../../../storage/record/layout.ts";
import {headLines} from "../../support/chains/headedLines.ts";
import {CHAIN_ID, WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {type EthAnswer, gatherNodes, joinNodes, withBranches} from "../../support/reference/ethState.ts";
import {readFixture} from "../../support/reference/fixtures.ts";
import {importLines} from "../../support/stores/importedStore.ts";
import {tamper} from "../../support/stores/tamper.ts";

interface GethState {
  readonly what: string;
  readonly accounts: Readonly<Record<string, object>>;
  readonly answers: readonly {readonly params: readonly unknown[]; readonly result: GethAnswer}[];
}

type GethAnswer = Omit<EthAnswer, "accountProof"> & {readonly accountProof: readonly string[] | null};

const {states} = readFixture<{states: readonly GethState[]}>("own/gethStates");

/** The first byte of a trie's page. */
const SMALL_OR_BRANCH: ReadonlySet<number | undefined> = new Set([0x74, 0x54]);

const folder = new WorkFolder();

/** A store of block 0 with these accounts. */
async function makeStore(name: string, accounts: GethState["accounts"]): Promise<string> {
  const block = {number: "0x0", hash: "", chainId: CHAIN_ID, accounts};
  const {lines} = await headLines([block]);
  await importLines(folder.file(name), lines, {finalized: 0});
  return folder.file(name);
}

for (const [number, {what, accounts, answers}] of states.entries())
  test(`eth_getProof is geth's, and multiproofs have the same nodes: ${what}`, async () => {
    const service = await OwnService.start({db: await makeStore(`state-${number}`, accounts)});
    for (const {params, result} of answers) {
      const answer = await service.call("eth_getProof", params);
      assert.equal(JSON.stringify(answer.result), JSON.stringify(result), JSON.stringify(answer));
      const [address, storageKeys, block] = params;
      const multi = await service.call("chain_getMultiProof", [[{address, storageKeys}], block, "keccak"]);
      const nodes = gatherNodes([{...result, accountProof: result.accountProof ?? []}]);
      assert.equal(multi.result, encodeHex(joinNodes(nodes)), JSON.stringify(multi));
      const [many] = (await service.call("eth_getMultiProof", [[[address, storageKeys]], block])).result;
      const long = ({key, ...slot}: EthAnswer["storageProof"][0]) => ({
        key: `0x${key.slice(2).padStart(64, "0")}`,
        ...slot,
      });
      const single = {...result, storageProof: result.storageProof.map(long)} as EthAnswer;
      assert.equal(JSON.stringify(many), JSON.stringify(withBranches(single, many)));
    }
    await service.stop();
  });

test("a page of a trie that is missing is an error of this service, which the log names", async () => {
  const [state] = states as [GethState];
  const db = await makeStore("damaged", state.accounts);
  const [whole, damaged] = state.answers.toReversed() as [
    (typeof state.answers)[0],
    (typeof state.answers)[0],
  ];
  let page = 0;
  await tamper(db, async level => {
    // The first page of a trie: the slots come before the account that has them.
    for await (const [key, body] of level.iterator({gte: pageKey(0), lte: pageKey(MAX_U48)}))
      if (page === 0 && SMALL_OR_BRANCH.has(body[0])) page = numberOfKey(key);
    await level.del(pageKey(page));
  });
  const service = await OwnService.serve(["--db", db, "--workers", "1"]);
  const {error} = await service.call("eth_getProof", damaged.params);
  assert.equal(error.code, -32603);
  await service.waitForStderr(new RegExp(`RECORD_MISSING: page ${page} is not in the store`));
  // The slots are not asked for, so their trie is not read.
  const [address, , block] = damaged.params;
  for (const params of [[address, [], block], whole.params])
    assert.equal((await service.call("eth_getProof", params)).error, undefined);
  await service.stop();
});
