/** The comparison of `npm run bench:peers`: its naive server answers as proofd does, and it runs from end to end. */
import assert from "node:assert/strict";
import {mkdtemp, readdir, readFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import type {PeerFigures} from "../../../../bench/peers/comparison.ts";
import {makeNaiveStore} from "../../../../bench/peers/naiveStore.ts";
import {PEER_NAMES, type PeerFlags} from "../../../../bench/peers/peerOptions.ts";
import {writeReport} from "../../../../bench/peers/peerReport.ts";
import {comparePeers} from "../../../../bench/peers/peersRun.ts";
import {findAnvil} from "../../../../bench/served/anvil.ts";
import {decodeHex} from "../../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../../client/hash/hashSuites.ts";
import {ABSENT_ACCOUNT, ACCOUNTS, WorkFolder} from "../../../support/chains/serviceChain.ts";
import {OwnService} from "../../../support/http/ownService.ts";
import {Daemon} from "../../../support/processes/daemon.ts";
import {verifyProof} from "../../../support/reference/exactProof.ts";

const BLOCKS = 5;
const NAIVE_SERVER = fileURLToPath(new URL("../../../../bench/peers/naiveServer.js", import.meta.url));
const FEW: PeerFlags = {
  accounts: 1000,
  blocks: 1,
  warmUp: 0,
  duration: 0.2,
  rounds: 1,
  only: ["account", "batch", "erc20"],
  servers: PEER_NAMES,
};

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

test("the comparison measures each load on the servers there are, and says so where anvil is missing", async t => {
  const own = process.cwd();
  const said: string[] = [];
  process.chdir(await mkdtemp(folder.file("peers-")));
  t.mock.method(process.stderr, "write", (text: string) => said.push(text) > 0);
  try {
    await comparePeers(FEW, "a test");
    const hasAnvil = findAnvil() !== undefined;
    assert.equal(/ANVIL IS NOT INSTALLED/.test(said.join("")), !hasAnvil);
    assert.deepEqual(await readdir("."), ["bench-data"], "nothing lies where the service's store would");
    const [file = ""] = await readdir("bench-data/runs");
    const {figures} = JSON.parse(await readFile(`bench-data/runs/${file}`, "utf8"));
    const rows = (figures as PeerFigures[]).map(({load, peer}) => `${load} ${peer}`);
    // anvil makes no batches, the naive server no estimates.
    const all = ["account proofd", "account naive", "account anvil", "batch proofd", "batch naive"];
    const expected = [...all, "erc20 proofd", "erc20 anvil"];
    assert.deepEqual(rows, hasAnvil ? expected : expected.filter(row => !row.endsWith(" anvil")));
    assert.equal(writeReport(figures).match(/^\| .+ \| (proofd|naive|anvil) /gm)?.length, rows.length);
  } finally {
    process.chdir(own);
  }
});
