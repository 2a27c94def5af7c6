/** ProvenReader between two real nodes: a contract on layer 1 reads slots of layer 2 by CCIP-read from proofd. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
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
import {NotesLayers} from "../../support/contracts/notesLayers.ts";
import {notRun} from "../../support/processes/notRun.ts";

const HOLDER = `0x${"c1".repeat(20)}`;
const STRANGER = `0x${"c2".repeat(20)}`;
/** 32 words. */
const TEXT = encodeHex(Uint8Array.from({length: 1000}, (_, i) => i | 1));

let layers: NotesLayers | string;
before(async () => {
  layers = await NotesLayers.start();
});
after(async () => {
  if (typeof layers !== "string") await layers.stop();
});

function layersTest(title: string, work: (layers: NotesLayers) => Promise<void>): void {
  test(title, async t => (typeof layers === "string" ? notRun(t, layers) : work(layers)));
}

layersTest("numbers, mappings and strings are read from trees of both suites and tries", async layers => {
  const {readers, parts} = layers;
  await layers.finalize();
  const all = Object.entries(readers);
  for (const [name, reader] of all) {
    assert.equal(await reader.read("total"), 0n, name);
    assert.deepEqual(await reader.read("all"), [0n, "", "0x"], name);
  }
  const title = "t".repeat(31);
  await parts.notes.send("set", HOLDER, 7n, title, TEXT);
  await layers.finalize();
  for (const [name, reader] of all) {
    assert.equal(await reader.read("total"), 7n, name);
    assert.equal(await reader.read("amountOf", HOLDER), 7n, name);
    assert.equal(await reader.read("amountOf", STRANGER), 0n, name);
    assert.equal(await reader.read("recordOf", title), title, name);
    assert.equal(await reader.read("recordOf", "none"), "", name);
    assert.deepEqual(await reader.read("all"), [7n, title, TEXT], name);
  }
  assert.equal(await layers.deposits.read("owed", HOLDER), 7n);
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
  async layers => {
    const {readers} = layers;
    for (const [name, reader] of [
      ["oracle", readers.oracle],
      ["hash", readers.hash],
    ] as const) {
      const [lookup, [block, words, header, proof]] = await answerAll(reader);
      const [account, slots, dynamic, context] = decodeExtra(lookup.extraData);
      const answers: Response[] = [
        [block + 1n, words, header, proof],
        [block - 1n, words, header, proof],
        [block, words.with(2, 31n), header, proof],
        [block, words.with(2, 33n), header, proof],
        [block, words.with(0, 1n), header, proof],
        [block, words.slice(1), header, proof],
        ...changeBytes(proof).map((other): Response => [block, words, header, other]),
        ...changeBytes(header).map((other): Response => [block, words, other, proof]),
      ];
      const questions: Extra[] = [
        [HOLDER, slots, dynamic, context],
        [account, slots.toReversed(), dynamic, context],
        [account, slots, 0n, context],
        [account, slots, 7n, context],
      ];
      const genuine = encodeResponse([block, words, header, proof]);
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
  async layers => {
    const {readers, parts} = layers;
    const {oracle: reader} = readers;
    const [lookup, old] = await answerAll(reader);
    await parts.notes.send("set", HOLDER, 8n, "t".repeat(31), TEXT);
    await layers.finalize();
    const {error} = await reader.callBack(lookup, encodeResponse(old));
    assert.equal(error && reader.contract.nameOf(error), "BlockTooOld");
    assert.equal(await reader.read("amountOf", HOLDER), 8n);
    const {layer1, oracle, notes, service} = parts;
    const nobody = `0x${"00".repeat(20)}`;
    const asking = await DeployedContract.create(layer1, "StateRootOracle", nobody, oracle.address);
    const values = [notes.address, asking.address, notes.address, 1n, 100n, `${service.url}/ccip`] as const;
    const deposits = await DeployedContract.create(layer1, "DepositReader", ...values);
    const withoutNewest = new CcipRead(layer1, deposits);
    await assert.rejects(withoutNewest.read("owed", HOLDER), /BlockTooOld/);
  },
);

layersTest(
  "a string of 4096 bytes is read, a longer one and a slot that holds none are refused by name",
  async layers => {
    const {readers, parts} = layers;
    const longest = `0x${"ab".repeat(4096)}`;
    await parts.notes.send("set", HOLDER, 16n, "t".repeat(31), longest);
    await layers.finalize();
    for (const reader of Object.values(readers)) {
      assert.deepEqual(await reader.read("all"), [31n, "t".repeat(31), longest]);
      await assert.rejects(reader.read("misread"), /NotBytes/);
    }
    await parts.notes.send("set", HOLDER, 2n ** 200n, "t".repeat(31), `${longest}ab`);
    await layers.finalize();
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
  async layers => {
    const {readers} = layers;
    const {callData} = await readers.oracle.ask("total");
    const {status, text} = await readers.keccak.fetch({...(await readers.keccak.ask("total")), callData});
    assert.equal(status, 501);
    assert.match(text, /^{"message":"a store of the suite keccak has Ethereum's state tries only/);
  },
);
