/** ProvenReader between two real nodes: a contract on layer 1 reads slots of layer 2 by CCIP-read from proofd. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import type {Artefact} from "../../../contracts/artefacts.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {
  CcipRead,
  decodeExtra,
  decodeResponse,
  type Extra,
  encodeExtra,
  encodeResponse,
  type Lookup,
  type Response,
} from "../../support/contracts/ccipRead.ts";
import {DeployedContract} from "../../support/contracts/deployedContract.ts";
import {waitForCoverage} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {readFixture} from "../../support/reference/fixtures.ts";

const GENESIS = fileURLToPath(import.meta.resolve("#package/examples/bridge/genesis.json"));
/** With one slot in an epoch, anvil calls a block finalized once two more are above it. */
const EPOCH = ["--slots-in-an-epoch", "1"];
const LAYER_2 = "--chain-id 31338 --hardfork osaka --accounts 2 --disable-default-create2-deployer".split(
  " ",
);
const NOBODY = `0x${"00".repeat(20)}`;
const HOLDER = `0x${"c1".repeat(20)}`;
const STRANGER = `0x${"c2".repeat(20)}`;
/** 32 words. */
const TEXT = encodeHex(Uint8Array.from({length: 1000}, (_, i) => i | 1));
const {contracts} = readFixture<{contracts: Record<string, Artefact>}>("own/notes");

const folder = new WorkFolder();
let layer1: Anvil | string = "layer 2 comes first";
let layer2: Anvil | string;
/** Of the suites sha256, finalized by the oracle, and keccak, by layer 2's own tag. */
let service: OwnService;
let keccakService: OwnService;
let oracle: DeployedContract;
let notes: DeployedContract;
/** By the oracle's roots of sparse trees, and by hashes of blocks from each store. */
let readers: {readonly oracle: CcipRead; readonly hash: CcipRead; readonly keccak: CcipRead};

before(async () => {
  layer2 = await Anvil.start([...EPOCH, ...LAYER_2, "--init", GENESIS]);
  if (typeof layer2 === "string") return;
  layer1 = await Anvil.start([...EPOCH, "--hardfork", "osaka"]);
  if (typeof layer1 === "string") return;
  const below = layer1;
  const [source] = await below.request<readonly [string]>("eth_accounts");
  oracle = await DeployedContract.create(below, "StateRootOracle", source, NOBODY);
  await mine(below);
  const flags = ["--l2", layer2.url, "--genesis", GENESIS];
  const finality = ["--l1", below.url, "--rollup", oracle.address];
  service = await OwnService.serve(["--db", folder.file("trees"), ...flags, ...finality]);
  const tries = ["--db", folder.file("tries"), "--suite", "keccak", "--finality", "tag"];
  keccakService = await OwnService.serve([...tries, ...flags]);
  notes = await DeployedContract.create(layer2, contracts.Notes as Artefact);
  const sparse = await DeployedContract.create(below, "Sha256ProofVerifier");
  const trie = await DeployedContract.create(below, "KeccakProofVerifier");
  const create = async (name: string, ...values: readonly (string | boolean)[]) =>
    new CcipRead(below, await DeployedContract.create(below, contracts[name] as Artefact, ...values));
  const byGet = (url: string) => `${url}/ccip/{sender}/{data}.json`;
  readers = {
    oracle: await create(
      "OracleReader",
      ...[sparse.address, false, oracle.address, notes.address, byGet(service.url)],
    ),
    hash: await create("HashReader", trie.address, notes.address, `${service.url}/ccip`),
    keccak: await create("HashReader", trie.address, notes.address, byGet(keccakService.url)),
  };
});

after(async () => {
  await service?.stop();
  await keccakService?.stop();
  for (const node of [layer1, layer2]) if (node instanceof Anvil) await node.stop();
});

/** What was mined before is final then. */
function mine(node: Anvil): Promise<unknown> {
  return node.request("anvil_mine", "0x3");
}

/** Makes the newest block of layer 2 known to layer 1: its root of sparse trees, and its hash. */
async function finalize(): Promise<void> {
  const [below, above] = [layer1 as Anvil, layer2 as Anvil];
  const {number, hash} = await above.request<{number: string; hash: string}>(
    "eth_getBlockByNumber",
    "latest",
    false,
  );
  let root: string | undefined;
  await service.until(`block ${number}`, async () => {
    root = (await service.call("chain_getStateRoot", [number])).result?.stateRoot;
    return root !== undefined;
  });
  await oracle.send("record", BigInt(number), root as string);
  await readers.hash.contract.send("record", BigInt(number), hash);
  await readers.keccak.contract.send("record", BigInt(number), hash);
  await mine(below);
  await waitForCoverage(service, "finalized", number);
  await above.request("anvil_mine", "0x2");
  await waitForCoverage(keccakService, "finalized", number);
}

function layersTest(title: string, work: () => Promise<void>): void {
  test(title, async t => {
    if (typeof layer2 === "string") return notRun(t, layer2);
    if (typeof layer1 === "string") return notRun(t, layer1);
    return work();
  });
}

layersTest("numbers, mappings, short and long strings are read from either kind of tree", async () => {
  await finalize();
  const all = Object.entries(readers);
  for (const [name, reader] of all) {
    assert.equal(await reader.read("total"), 0n, name);
    assert.deepEqual(await reader.read("all"), [0n, "", "0x"], name);
  }
  const title = "t".repeat(31);
  await notes.send("set", HOLDER, 7n, title, TEXT);
  await finalize();
  for (const [name, reader] of all) {
    assert.equal(await reader.read("total"), 7n, name);
    assert.equal(await reader.read("amountOf", HOLDER), 7n, name);
    assert.equal(await reader.read("amountOf", STRANGER), 0n, name);
    assert.equal(await reader.read("recordOf", title), title, name);
    assert.equal(await reader.read("recordOf", "none"), "", name);
    assert.deepEqual(await reader.read("all"), [7n, title, TEXT], name);
  }
});

/** A genuine answer to `all`, which the reader accepts. */
async function answerAll(reader: CcipRead): Promise<readonly [Lookup, Response]> {
  const lookup = await reader.ask("all");
  const {text} = await reader.fetch(lookup);
  const {data} = JSON.parse(text);
  assert.deepEqual(await reader.judge([[lookup, data]]), [undefined]);
  const response = decodeResponse(data);
  assert.equal(encodeResponse(response), data, "it is encoded as Solidity does");
  return [lookup, response];
}

/** @returns the hex bytes with one of them changed, at some 150 places */
function changeBytes(hex: string): string[] {
  const bytes = decodeHex(hex);
  const step = Math.max(1, Math.ceil(bytes.length / 150));
  const changed: string[] = [];
  for (let i = 0; i < bytes.length; i += step)
    changed.push(encodeHex(bytes.with(i, (bytes[i] as number) ^ (1 << (i % 8)))));
  return changed;
}

layersTest(
  "an answer is refused if a byte, the block, the words, the account or the slots are others",
  async () => {
    for (const [name, reader] of [
      ["oracle", readers.oracle],
      ["hash", readers.hash],
    ] as const) {
      const [lookup, [block, words, proof, header]] = await answerAll(reader);
      const [account, slots, dynamic, context] = decodeExtra(lookup.extraData);
      const answers: Response[] = [
        [block + 1n, words, proof, header],
        [block - 1n, words, proof, header],
        [block, words.with(2, 31n), proof, header],
        [block, words.with(2, 33n), proof, header],
        [block, words.with(0, 1n), proof, header],
        [block, words.slice(1), proof, header],
        ...changeBytes(proof).map((other): Response => [block, words, other, header]),
        ...changeBytes(header).map((other): Response => [block, words, proof, other]),
      ];
      const questions: Extra[] = [
        [HOLDER, slots, dynamic, context],
        [account, slots.toReversed(), dynamic, context],
        [account, slots, 0n, context],
        [account, slots, 7n, context],
      ];
      const genuine = encodeResponse([block, words, proof, header]);
      const calls = [
        ...answers.map(answer => [lookup, encodeResponse(answer)] as const),
        ...questions.map(extra => [{...lookup, extraData: encodeExtra(extra)}, genuine] as const),
      ];
      // Tries: the same nodes prove these slots too.
      if (reader === readers.oracle) calls.push([await reader.ask("total"), genuine]);
      const refusals = await reader.judge(calls);
      assert.ok(refusals.length > 150);
      for (const [i, refusal] of refusals.entries()) assert.match(String(refusal), /revert/, `${name} ${i}`);
    }
  },
);

layersTest(
  "an answer from before the newest recorded block is refused by a reader that wants the newest",
  async () => {
    const {oracle: reader} = readers;
    const [lookup, old] = await answerAll(reader);
    await notes.send("set", HOLDER, 8n, "t".repeat(31), TEXT);
    await finalize();
    const {error} = await reader.callBack(lookup, encodeResponse(old));
    assert.equal(error && reader.contract.nameOf(error), "BlockTooOld");
    assert.equal(await reader.read("amountOf", HOLDER), 8n);
  },
);

layersTest(
  "a string of 4096 bytes is read, a longer one and a slot that holds none are refused by name",
  async () => {
    const longest = `0x${"ab".repeat(4096)}`;
    await notes.send("set", HOLDER, 16n, "t".repeat(31), longest);
    await finalize();
    for (const reader of Object.values(readers)) {
      assert.deepEqual(await reader.read("all"), [31n, "t".repeat(31), longest]);
      await assert.rejects(reader.read("misread"), /NotBytes/);
    }
    await notes.send("set", HOLDER, 2n ** 200n, "t".repeat(31), `${longest}ab`);
    await finalize();
    for (const reader of Object.values(readers)) {
      await assert.rejects(
        reader.read("all"),
        /^Error: status 400: {"message":"slot 0x0*3: expected bytes or a string of at most 4096 bytes, got 4097"}$/,
      );
      await assert.rejects(
        reader.read("misread"),
        /status 400: {"message":"slot 0x0*: expected bytes or a string/,
      );
    }
  },
);

layersTest(
  "a store without the trees that a contract wants says so, and that another gateway may have them",
  async () => {
    const {callData} = await readers.oracle.ask("total");
    const {status, text} = await readers.keccak.fetch({...(await readers.keccak.ask("total")), callData});
    assert.equal(status, 501);
    assert.match(text, /^{"message":"a store of the suite keccak has Ethereum's state tries only/);
  },
);
