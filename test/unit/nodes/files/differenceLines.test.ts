import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {encodeHex} from "../../../../client/bytes/hex.ts";
import {readDifferenceLines} from "../../../../nodes/files/differenceLines.ts";
import {blockHash} from "../../../support/chains/longChain.ts";

const ADDRESS = `0x${"Ab".repeat(20)}`;

function line(number: number, rest = ""): string {
  return (
    `{"number" : "0x${number}", "hash":"${blockHash(number)}","odd":[{"}":"\\"]"},"\\\\"],` +
    `"accounts":{"${ADDRESS}":{"balance":"0x10","storage":{"0x1":"0x02"}},"0x${"01".repeat(20)}":null}${rest}}`
  );
}

/** Reads `text` cut at the given places. @returns one plain description per block */
async function read(text: string, cuts: readonly number[] = []): Promise<object[]> {
  const bytes = Buffer.from(text);
  const ends = [...cuts.map(cut => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let start = 0;
    for (const end of ends) {
      yield bytes.subarray(start, end);
      start = end;
    }
  }
  const blocks: object[] = [];
  for await (const block of readDifferenceLines(chunks())) {
    const {accounts, header, chain} = await block.difference();
    const changes = Array.from({length: accounts.count}, (_, i) => {
      const {address, change} = accounts.at(i);
      const slots = change?.storage?.map(({slot, value}) => [encodeHex(slot), encodeHex(value)]);
      return {address: encodeHex(address), balance: change?.balance, isDeleted: change === undefined, slots};
    });
    const {finalized, chainId} = block;
    blocks.push({
      line: block.line,
      number: header.number,
      hash: encodeHex(header.hash),
      finalized,
      chainId,
      chain,
      changes,
    });
  }
  return blocks;
}

test("lines are read the same however the bytes are cut into chunks", async () => {
  const text = `${line(0, ',"chainId":"0x5","config":{"a":{"b":[]}}')}\n\n  ${line(1)}  \r\n${line(2, ',"finalized":"0x1"')}`;
  const whole = (await read(text)) as {line: number; number: number}[];
  assert.deepEqual(
    whole.map(block => [block.line, block.number]),
    [
      [1, 0],
      [3, 1],
      [4, 2],
    ],
  );
  assert.deepEqual(whole[1], {
    line: 3,
    number: 1,
    hash: blockHash(1),
    finalized: undefined,
    chainId: undefined,
    chain: undefined,
    changes: [
      {
        address: ADDRESS.toLowerCase(),
        balance: 16n,
        isDeleted: false,
        slots: [[`0x${"00".repeat(31)}01`, `0x${"00".repeat(31)}02`]],
      },
      {address: `0x${"01".repeat(20)}`, balance: undefined, isDeleted: true, slots: undefined},
    ],
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), {maxLength: 40}), async cuts => {
      assert.deepEqual(await read(text, cuts), whole);
    }),
  );
});

test("block numbers are quantities below 2^48, in hex or as JSON numbers", async () => {
  const withNumber = (number: string, finalized: string) =>
    `{"number":${number},"hash":"${blockHash(1)}","finalized":${finalized},"accounts":{}}`;
  const last = 2 ** 48 - 1;
  const [block] = (await read(withNumber("1", `${last}`))) as {number: number; finalized: number}[];
  assert.deepEqual([block?.number, block?.finalized], [1, last]);
  const [padded] = (await read(withNumber('"0x00000000000001"', '"0x0"'))) as {number: number}[];
  assert.equal(padded?.number, 1);
  for (const [number, finalized, message] of [
    ['"0x1000000000000"', "0", 'line 1: number: expected a quantity below 2^48, got "0x1000000000000"'],
    ["1", `${last + 1}`, "line 1: finalized: expected a quantity below 2^48, got 281474976710656"],
    ["1.5", "0", "line 1: number: expected a quantity (0x and 1 to 64 hex digits), got 1.5"],
  ] as const)
    await assert.rejects(read(withNumber(number, finalized)), {message});
});

test("bytes may be as long as the line, and a message names no other bound", async () => {
  await read(line(0, `,"extraData":"0x${"00".repeat(1 << 17)}"`));
  await assert.rejects(read(line(0, ',"extraData":"0x0"')), {
    message: 'line 1: extraData: expected bytes (0x and pairs of hex digits), got "0x0"',
  });
});

function lineOf(fields: object): string {
  return JSON.stringify({
    number: "0x4",
    hash: blockHash(4),
    accounts: {[ADDRESS]: {balance: "0x9"}},
    ...fields,
  });
}

const account = (fields: object): string => lineOf({accounts: {[ADDRESS]: fields}});
const WRONG: readonly (readonly [text: string, message: RegExp])[] = [
  [lineOf({}).replace('"0x9"', "0x9"), /^line 1: account 0x.{40} is not JSON/],
  [lineOf({}).slice(0, -6), /^line 1: the input ends within it \(truncated\?\)$/],
  [lineOf({}).replace('"accounts":', '"accounts":\n'), /^line 1: expected a value, got the end of the line/],
  [
    lineOf({number: undefined}),
    /^line 1: number: expected a quantity \(0x and 1 to 64 hex digits\), got nothing/,
  ],
  [lineOf({hash: undefined}), /^line 1: hash: expected 32 bytes.*, got nothing/],
  [lineOf({accounts: undefined}), /^line 1: accounts is missing$/],
  [lineOf({number: "4"}), /^line 1: number: expected a quantity \(0x and 1 to 64 hex digits\), got "4"/],
  [lineOf({hash: `0x${"ab".repeat(31)}`}), /^line 1: hash: expected 32 bytes/],
  [lineOf({accounts: {[`0x${"ab".repeat(19)}`]: {}}}), /^line 1: the address 0x.*: expected 20 bytes/],
  [account({balance: `0x1${"0".repeat(64)}`}), /balance: expected a quantity/],
  [account({nonce: `0x1${"0".repeat(16)}`}), /nonce: expected a quantity below 2\^64/],
  [account({balence: "0x1"}), /expected the fields nonce, balance, .*, got "balence"/],
  [lineOf({}).replace('{"number"', '{"hash":"0x00","number"'), /^line 1: hash comes twice$/],
  [lineOf({}).replace('"accounts"', '"accounts":{},"accounts"'), /^line 1: accounts comes twice$/],
  [lineOf({accounts: []}), /^line 1: accounts is not an object$/],
  [`{"a":${"[".repeat(100)}${"]".repeat(100)}}\n`, /^line 1: nesting deeper than 64$/],
];

test("a line that is wrong is refused with its number and reason", async () => {
  for (const [text, message] of WRONG) await assert.rejects(read(text), {name: "SourceError", message});
});

test("any text that is not a line is refused with a line number, and nothing else is thrown", async () => {
  const good = line(0);
  const broken = fc
    .record({
      at: fc.nat(good.length - 1),
      insert: fc.constantFrom("", "{", "}", '"', ",", ":", "\n", "x", "[", "\\"),
    })
    .map(({at, insert}) => good.slice(0, at) + insert + good.slice(at + 1));
  await fc.assert(
    fc.asyncProperty(broken, async text => {
      try {
        await read(text);
      } catch (error) {
        assert.equal((error as Error).name, "SourceError", `${error}`);
        assert.match((error as Error).message, /^line [12]: /);
      }
    }),
    {numRuns: 500},
  );
});
