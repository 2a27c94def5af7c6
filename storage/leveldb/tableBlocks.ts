/**
 * Reads the blocks of a table. (LevelDB verifies no checksum, and some damage makes it end the process.)
 *
 *   data block | trailer ...   filter block | trailer   metaindex | trailer   index | trailer   footer
 *
 *   trailer   type u8 (0 = plain, 1 = compressed) | masked CRC-32C of block and type, u32 little-endian
 *   footer    metaindex offset, size | index offset, size (varints) | zeros up to byte 40 | magic number, 8 bytes
 *
 * Blocks follow each other without gaps. So every byte is covered by a checksum or is in the footer, which is compared
 * byte by byte.
 */

import {closeSync, fstatSync, openSync, readSync} from "node:fs";
import {join} from "node:path";
import {count} from "../count.ts";
import {StoreError} from "../errors.ts";
import {READ_AT_ONCE} from "../regularFile.ts";
import {BlockCursor, type BlockHandle} from "./blockCursor.ts";
import {ByteReader} from "./byteReader.ts";
import {crc32c, unmaskCrc} from "./crc32c.ts";
import {FileDamage} from "./fileDamage.ts";
import {tableName} from "./fileNames.ts";

const TRAILER_BYTES = 5;
const FOOTER_BYTES = 48;
const MAGIC_AT = 40;
const MAGIC = Buffer.from("57fb808b247547db", "hex");
/** No block is that large: a level-0 table has 72 MB at most. The footer of a sparse file may name one of terabytes. */
const MAX_READ_BYTES = 128 << 20;
const PLAIN = 0;
const COMPRESSED = 1;

export class TableBlocks {
  readonly size: number;

  private constructor(
    readonly name: string,
    private readonly fd: number,
  ) {
    this.size = fstatSync(fd).size;
  }

  /** @throws the system's error if the file cannot be opened: ENOENT if LevelDB has removed it */
  static open(directory: string, number: number): TableBlocks {
    const name = tableName(number);
    return new TableBlocks(name, openSync(join(directory, name), READ_AT_ONCE));
  }

  close(): void {
    closeSync(this.fd);
  }

  /** Where the metaindex and the index lie. @throws FileDamage */
  readFooter(): {metaindex: BlockHandle; index: BlockHandle} {
    const footerAt = this.size - FOOTER_BYTES;
    if (footerAt < 0) throw this.damage(0, `footer: the file has only ${count(this.size, "byte")}`);
    const footer = this.read(footerAt, FOOTER_BYTES);
    try {
      const fields = new ByteReader(footer.subarray(0, MAGIC_AT));
      const metaindex = {offset: fields.varint(), size: fields.varint()};
      const index = {offset: fields.varint(), size: fields.varint()};
      const expected = encodeFooter(metaindex, index);
      if (footer.equals(expected) && endOf(metaindex) === index.offset && endOf(index) === footerAt)
        return {metaindex, index};
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    throw this.damage(footerAt, "footer: it is invalid, or does not fit the file");
  }

  /** @param kind - for messages. @throws FileDamage; StoreError STORE_UNREADABLE if it is compressed */
  readBlock(handle: BlockHandle, kind: string): Buffer {
    if (endOf(handle) > this.size) throw this.damage(handle.offset, `${kind}: it is beyond the file's end`);
    const bytes = this.read(handle.offset, handle.size + TRAILER_BYTES);
    const wrong = checkBlock(bytes);
    if (wrong !== undefined) throw this.damage(handle.offset, `${kind}: ${wrong}`);
    // The block may be undamaged, but another program has written it.
    if (bytes[handle.size] !== PLAIN)
      throw new StoreError("STORE_UNREADABLE", `${this.name} is compressed, which proofd's tables are not`);
    return bytes.subarray(0, handle.size);
  }

  /** @param bytes - the block, if it was read before. @throws as readBlock, and the cursor FileDamage */
  openBlock(handle: BlockHandle, kind: string, bytes = this.readBlock(handle, kind)): BlockCursor {
    return new BlockCursor(bytes, what => this.damage(handle.offset, `${kind}: ${what}`));
  }

  /** @throws FileDamage if the disk cannot read it, or the file ends before */
  read(offset: number, length: number): Buffer {
    if (length > MAX_READ_BYTES) throw this.damage(offset, `a block of ${count(length, "byte")}`);
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) {
      let got: number;
      try {
        got = readSync(this.fd, bytes, done, length - done, offset + done);
      } catch (error) {
        throw this.damage(offset + done, `it cannot be read: ${(error as Error).message}`);
      }
      if (got === 0) throw this.damage(offset + done, "the file ends here");
      done += got;
    }
    return bytes;
  }

  damage(offset: number, what: string): FileDamage {
    return new FileDamage({file: this.name, offset, what});
  }
}

export function endOf({offset, size}: BlockHandle): number {
  return offset + size + TRAILER_BYTES;
}

/** @param bytes - a block and its trailer. @returns what is wrong with it, or undefined */
export function checkBlock(bytes: Buffer): string | undefined {
  const typeAt = bytes.length - TRAILER_BYTES;
  const expected = unmaskCrc(bytes.readUInt32LE(typeAt + 1));
  const actual = crc32c(bytes.subarray(0, typeAt + 1));
  if (actual !== expected) return `checksum: expected ${expected.toString(16)}, got ${actual.toString(16)}`;
  const type = bytes[typeAt];
  return type === PLAIN || type === COMPRESSED ? undefined : `a block of type ${type}`;
}

function encodeFooter(metaindex: BlockHandle, index: BlockHandle): Buffer {
  const footer = Buffer.alloc(FOOTER_BYTES);
  let at = 0;
  for (let rest of [metaindex.offset, metaindex.size, index.offset, index.size]) {
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) footer[at++] = (rest % 0x80) + 0x80;
    footer[at++] = rest;
  }
  MAGIC.copy(footer, MAGIC_AT);
  return footer;
}
