/** Cutting a block file: any chunks, any damage. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {RLP} from "@ethereumjs/rlp";
import fc from "fast-check";
import {MAX_BLOCK_BYTES, readRlpBlocks} from "../../../../evm/execution/rlpBlocks.ts";
import {count} from "../../../../storage/count.ts";

const lists = fc.array(
  fc.array(fc.uint8Array({maxLength: 400}), {maxLength: 4}).map(items => RLP.encode(items)),
  {maxLength: 12},
);

test("lists come out as they went in, however the file is cut into chunks", async () => {
  await fc.assert(
    fc.asyncProperty(lists, fc.infiniteStream(fc.integer({min: 0, max: 300})), async (blocks, sizes) => {
      const file = Buffer.concat(blocks);
      const found = [];
      for await (const block of readRlpBlocks(cut(file, sizes))) {
        assert.equal(block.position, found.length);
        found.push(block.bytes);
      }
      assert.deepEqual(found, blocks);
    }),
  );
});

test("a file that ends inside a block is refused after the whole blocks before it, wherever it ends", async () => {
  const block = RLP.encode([new Uint8Array(70), new Uint8Array(3)]);
  const file = Buffer.concat([block, block, block]);
  for (let end = 2 * block.length + 1; end < file.length; end++) {
    let whole = 0;
    const read = async (): Promise<void> => {
      for await (const _ of readRlpBlocks(once(file.subarray(0, end)))) whole++;
    };
    await assert.rejects(read(), {
      code: "RLP_INVALID",
      message: `block at position 2 of the file (byte ${2 * block.length}) is truncated: the file ends ${count(end - 2 * block.length, "byte")} after its start`,
    });
    assert.equal(whole, 2);
  }
});

test("bytes that are no list are refused with their offset", async () => {
  const block = RLP.encode([new Uint8Array(5)]);
  await assert.rejects(readAll(Buffer.concat([block, Buffer.from("83aabbcc", "hex")])), {
    code: "RLP_INVALID",
    message: `block at position 1 of the file (byte ${block.length}) begins with 0x83, not with an RLP list`,
  });
});

test("a list length that is longer than needed is refused", async () => {
  for (const head of ["f837", "f90040", "fa000100"])
    await assert.rejects(readAll(Buffer.from(head, "hex")), {
      code: "RLP_INVALID",
      message: /not written in its shortest form/,
    });
});

test("a block beyond the size limit is refused by its head, without waiting for its bytes", async () => {
  const head = Buffer.from("fb00000000", "hex");
  head.writeUInt32BE(MAX_BLOCK_BYTES, 1);
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    yield head;
    for (;;) yield assert.fail("read on after the head");
  };
  await assert.rejects(readAll(endless()), {code: "RLP_INVALID", message: /more than the limit of 67108864/});
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function* cut(file: Buffer, sizes: Iterator<number>): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; ) {
    const size = sizes.next().value ?? 1;
    yield file.subarray(at, at + size);
    at += size;
  }
}

async function readAll(chunks: AsyncIterable<Uint8Array> | Uint8Array): Promise<number> {
  let count = 0;
  for await (const _ of readRlpBlocks(chunks instanceof Uint8Array ? once(chunks) : chunks)) count++;
  return count;
}
