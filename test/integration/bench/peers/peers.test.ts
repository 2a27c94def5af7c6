/** The naive server of `npm run bench:peers` answers as proofd does. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {makeNaiveStore} from "../../../../bench/peers/naiveStore.ts";
import {decodeHex} from "../../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../../client/hash/hashSuites.ts";
import {ABSENT_ACCOUNT, ACCOUNTS, WorkFolder} from "../../../support/chains/serviceChain.ts";
import {OwnService} from "../../../support/http/ownService.ts";
import {Daemon} from "../../../support/processes/daemon.ts";
import {verifyProof} from "../../../support/reference/exactProof.ts";

const BLOCKS = 5;
const NAIVE_SERVER = fileURLToPath(new URL("../../../../bench/peers/naiveServer.js", import.meta.url));

let folder: WorkFolder;
let proofd: OwnService;
let naive: Daemon;

before(async () => {
  folder = await WorkFolder.create();
  const db = await folder.importChain("db", BLOCKS, BLOCKS);
  await makeNaiveStore(db, folder.file("naive"));
  proofd = await OwnService.start({db});
  naive = new Daemon([folder.file("naive"), "1"], {main: NAIVE_SERVER});
  await naive.listening;
});

after(async () => {
  await naive.stop();
  await proofd.stop();
  await folder.remove();
});

test("the naive server's answers verify, and are proofd's byte for byte", async () => {
  const {result} = await proofd.call("chain_getStateRoot", ["finalized"]);
  assert.equal((await naive.call("chain_getStateRoot", ["finalized"])).result.stateRoot, result.stateRoot);
  // Present and absent accounts, present and absent slots; each first as a call of its own, then all as one batch.
  const addresses = [...ACCOUNTS, ABSENT_ACCOUNT, `0x${"00".repeat(20)}`, `0x${"ff".repeat(20)}`];
  const calls = addresses.map((address, id) => ({
    jsonrpc: "2.0",
    id,
    method: "chain_getProof",
    params: [address, id % 2 === 0 ? ["0x1", "0x77"] : [], "latest"],
  }));
  for (const body of [...calls, calls]) {
    const text = JSON.stringify(body);
    const naiveText = (await naive.post(text)).text;
    assert.equal(naiveText, (await proofd.post(text)).text);
    for (const answer of [JSON.parse(naiveText)].flat()) {
      const {params} = calls[answer.id] as {params: unknown};
      const [address, slots] = params as [string, string[], string];
      verifyProof(sha256Suite, decodeHex(result.stateRoot), address, slots, answer.result);
    }
  }
});
