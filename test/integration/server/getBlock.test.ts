/** eth_getBlockByNumber and eth_getBlockByHash over a real socket: which block is meant, and what is answered where there is none. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {checkHeader} from "../../../nodes/blocks/nodeHeader.ts";
import {type Header, headLines} from "../../support/chains/headedLines.ts";
import {ACCOUNTS, createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {importLines} from "../../support/stores/importedStore.ts";

const LATEST = 6;
const FINALIZED = 4;
const ACCOUNT = ACCOUNTS[0] as string;
const UNKNOWN = `0x${"ab".repeat(32)}`;

const folder = new WorkFolder();
let daemon: OwnService;
let headers: readonly Header[];

before(async () => {
  const chain = await headLines(createLines(0, LATEST));
  headers = chain.headers;
  await importLines(folder.file("db"), chain.lines, {finalized: FINALIZED});
  daemon = await OwnService.serve(["--db", folder.file("db"), "--workers", "1"]);
});

after(() => daemon.stop());

async function ask(block: unknown, full: unknown = false, service = daemon) {
  const answer = await service.call("eth_getBlockByNumber", [block, full]);
  assert.deepEqual(await service.call("eth_getBlockByHash", [block, full]), {
    ...answer,
    ...(answer.error && {error: {...answer.error, message: answer.error.message.replace(/Number/, "Hash")}}),
  });
  return answer;
}

test("a tag means the block that it means for proofs, and a number or hash any block in the store", async () => {
  for (const [selector, number] of [
    ["latest", FINALIZED],
    ["safe", FINALIZED],
    ["finalized", FINALIZED],
    ["pending", FINALIZED],
    [{blockNumber: "latest"}, FINALIZED],
    ["earliest", 0],
    ["0x1", 1],
    [`0x${LATEST}`, LATEST],
    [{blockNumber: "0x5"}, 5],
    [headers[3]?.hash, 3],
    [{blockHash: headers[LATEST]?.hash}, LATEST],
  ] as const) {
    const {result} = await ask(selector);
    checkHeader(result, number);
    assert.deepEqual(result, headers[number], JSON.stringify(selector));
  }
});

test("a block that is not in the store is null, as nodes answer", async () => {
  for (const selector of [
    `0x${LATEST + 1}`,
    "0xffffffff",
    `0x${"f".repeat(63)}`,
    UNKNOWN,
    {blockHash: UNKNOWN},
  ])
    assert.equal((await ask(selector)).result, null, JSON.stringify(selector));
});

test("transactions are refused by name, and so is anything but true or false", async () => {
  assert.deepEqual((await ask("0x1", true)).error, {
    code: -32602,
    message: "params[1] (full): expected false, because only the block's header is stored, got true",
  });
  assert.match(
    (await ask("0x1", null)).error.message,
    /^params\[1\] \(full\): expected true or false, got null$/,
  );
  for (const params of [[], ["0x1"], ["0x1", false, false]])
    assert.equal((await daemon.call("eth_getBlockByNumber", params)).error.code, -32602);
});

test("a pruned block has its header still, though no proofs", async t => {
  const {lines} = await headLines(createLines(0, LATEST));
  await importLines(folder.file("pruned"), lines, {finalized: LATEST});
  const service = await OwnService.serve(["--db", folder.file("pruned"), "--workers", "1", "--history", "1"]);
  t.after(() => service.stop());
  await service.until("block 3 to be pruned", async () => {
    const {error} = await service.call("eth_getProof", [ACCOUNT, [], "0x3"]);
    return error?.code === -32001;
  });
  for (const selector of ["0x3", headers[3]?.hash])
    assert.deepEqual((await ask(selector, false, service)).result, headers[3]);
});

test("a block whose source gave only some fields of its header is -32004", async t => {
  await importLines(folder.file("headless"), createLines(0, 1), {finalized: 1});
  const service = await OwnService.serve(["--db", folder.file("headless"), "--workers", "1"]);
  t.after(() => service.stop());
  const {error} = await ask("latest", false, service);
  assert.equal(error.code, -32004);
  assert.match(
    error.message,
    /^eth_getBlockByNumber is not available: the source of block 0x1 gave no whole header/,
  );
  assert.equal((await ask("0x2", false, service)).result, null);
});
