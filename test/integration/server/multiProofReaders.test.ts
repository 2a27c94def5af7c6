/** Readers of large multiproofs that stop reading: what they cost, and that they get every byte in the end. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {verifyMultiProof} from "../../../client/compact/compactProof.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {ABSENT_ACCOUNT, CHAIN_ID, hashOfBlock, WorkFolder} from "../../support/chains/serviceChain.ts";
import {waitForMetric} from "../../support/http/followingDaemon.ts";
import {encodePost, RawConnection} from "../../support/http/rawConnection.ts";
import {CHAIN_ANSWER, CHAIN_CALL} from "../../support/http/wireRequests.ts";
import {Daemon, QUEUED_COST} from "../../support/processes/daemon.ts";
import {importLines} from "../../support/stores/importedStore.ts";

const CONTRACT = `0x${"c0".repeat(20)}`;
const MADE = 'proofd_calls_total{method="chain_getMultiProof",code="0"}';
const WATCHED = [QUEUED_COST, "proofd_held_bytes", "proofd_requests_aborted_total", MADE];
const SLOTS = 1990;
const CALLS = 310;
const REQUEST = [
  {address: CONTRACT, storageKeys: Array.from({length: SLOTS}, (_, slot) => `0x${slot.toString(16)}`)},
  {address: ABSENT_ACCOUNT, storageKeys: []},
];

let folder: WorkFolder;
let daemon: Daemon;

before(async () => {
  folder = await WorkFolder.create();
  const db = folder.file("db");
  const storage = Object.fromEntries(
    REQUEST[0]?.storageKeys.map((slot, i) => [slot, `0x${(i + 1).toString(16)}`]) ?? [],
  );
  const line = {number: "0x0", hash: hashOfBlock(0), chainId: CHAIN_ID, accounts: {[CONTRACT]: {storage}}};
  await importLines(db, [line], {finalized: 0});
  // However slow the machine: no request is given up. The other limits let the whole batch in.
  const main = fileURLToPath(new URL("../../support/processes/wideService.js", import.meta.url));
  daemon = new Daemon([db], {main});
  await daemon.listening;
});

after(async () => {
  await daemon.stop();
  await folder.remove();
});

function multiText(id: number): string {
  return JSON.stringify({jsonrpc: "2.0", id, method: "chain_getMultiProof", params: [REQUEST, "latest"]});
}

test("a reader of many large multiproofs that stops reading holds no more than a few of them, and gets every one", async t => {
  const single = (await daemon.post(multiText(7))).text;
  const batch = `[${Array.from({length: CALLS}, (_, id) => multiText(id)).join(",")}]`;
  const slow = await RawConnection.open(daemon.port);
  t.after(() => slow.destroy());
  slow.socket.pause();
  await slow.write(encodePost(batch));
  // While nothing is read, others are answered, and production stops.
  let [most, made] = [0, 0];
  for (let round = 0, queued = 1; round < 5 || queued > 0 || made < 2; round++) {
    assert.equal((await daemon.post(CHAIN_CALL)).text, CHAIN_ANSWER);
    const [cost, held, cut, count] = (await daemon.readMetrics(...WATCHED)) as [
      number,
      number,
      number,
      number,
    ];
    assert.equal(cut, 0, "a reader that takes nothing for 10 s is cut");
    [queued, made] = [cost, count];
    most = Math.max(most, held);
  }
  assert.ok(single.length * CALLS > 30e6, `${single.length} bytes each`);
  assert.ok(most < 8e6, `held ${most} bytes`);
  assert.ok(made < CALLS, `made ${made} answers that nobody reads`);
  slow.socket.resume();
  const {body} = await slow.readAnswer();
  const expected = Array.from({length: CALLS}, (_, id) => single.replace('"id":7', `"id":${id}`));
  assert.ok(body === `[${expected.join(",")}]`, "a batch is what its calls are alone");
  const {result} = JSON.parse(single) as {result: string};
  const {stateRoot} = (await daemon.call("chain_getStateRoot")).result;
  const [proven] = verifyMultiProof(sha256Suite, decodeHex(stateRoot), REQUEST, decodeHex(result));
  assert.deepEqual(
    proven?.slots,
    Array.from({length: SLOTS}, (_, i) => BigInt(i + 1)),
  );
});

test("clients that go away in the middle of a multiproof leave the service as it was", async () => {
  await Promise.all(
    Array.from({length: 8}, async () => {
      const connection = await RawConnection.open(daemon.port);
      await connection.write(encodePost(multiText(1), "Accept: application/octet-stream\r\n"));
      connection.destroy();
      await connection.closed;
    }),
  );
  await daemon.until("an empty queue", async () => (await daemon.readMetric(QUEUED_COST)) === 0);
  await waitForMetric(daemon, "proofd_held_bytes 0");
  assert.equal((await daemon.post(CHAIN_CALL)).text, CHAIN_ANSWER);
});
