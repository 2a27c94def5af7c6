/** The comparison of `npm run bench:peers`: its naive server answers as proofd does, and it runs from end to end. */
import assert from "node:assert/strict";
import {mkdtemp, readdir, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {findAnvil} from "../../../../bench/peers/anvil.ts";
import {makeNaiveStore} from "../../../../bench/peers/naiveStore.ts";
import {decodeHex} from "../../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../../client/hash/hashSuites.ts";
import {ABSENT_ACCOUNT, ACCOUNTS, WorkFolder} from "../../../support/chains/serviceChain.ts";
import {runChild} from "../../../support/processes/childProcesses.ts";
import {Daemon, startDaemon} from "../../../support/processes/daemon.ts";
import {verifyProof} from "../../../support/reference/exactProof.ts";

const BLOCKS = 5;
const NAIVE_SERVER = fileURLToPath(new URL("../../../../bench/peers/naiveServer.js", import.meta.url));
const PEERS = fileURLToPath(new URL("../../../../bench/peers/main.js", import.meta.url));
const FEW = "--accounts 2k --blocks 5 --warm-up 0 --duration 1 --rounds 1 --only account,batch,erc20".split(
  " ",
);

let folder: WorkFolder;
let proofd: Daemon;
let naive: Daemon;

before(async () => {
  folder = await WorkFolder.create();
  const db = await folder.importChain("db", BLOCKS, BLOCKS);
  await makeNaiveStore(db, folder.file("naive"));
  proofd = await startDaemon(["--db", db]);
  naive = new Daemon(["--db", folder.file("naive"), "--workers", "1"], {main: NAIVE_SERVER});
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

test("bench:peers compares the servers there are, and says so where anvil is missing", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "proofd-peers-"));
  try {
    const {code, stdout, stderr} = await runChild(process.execPath, [PEERS, ...FEW], {cwd});
    assert.equal(code, 0, stderr);
    const hasAnvil = findAnvil() !== undefined;
    assert.equal(/ANVIL IS NOT INSTALLED/.test(stderr), !hasAnvil);
    const rows = stdout.split("\n").filter(line => /^\| (account|estimate)/.test(line));
    // Of accounts, batches and ERC-20 transfers: anvil makes no batches, the naive server no estimates.
    assert.equal(rows.length, hasAnvil ? 3 + 2 + 2 : 2 + 2 + 1);
    assert.deepEqual(await readdir(cwd), ["bench-data"], "nothing lies where the service's store would");
  } finally {
    await rm(cwd, {recursive: true});
  }
});
