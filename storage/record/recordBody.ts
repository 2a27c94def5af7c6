/** The bodies of records, field after field. Integers are big-endian. */
import {count as countOf} from "../count.ts";
import {StoreError} from "../errors.ts";
import {NUMBER_BYTES, nameOfKey} from "./layout.ts";

export function encodeNumber(number: number, bytes = NUMBER_BYTES): Buffer {
  const body = Buffer.allocUnsafe(bytes);
  body.writeUIntBE(number, 0, bytes);
  return body;
}

/** @param key - of a record that holds one number. @throws StoreError RECORD_DAMAGED */
export function decodeNumber(key: Buffer, body: Buffer): number {
  const reader = new BodyReader(nameOfKey(key), body);
  return reader.end(reader.number());
}

/** `value` as `bytes` bytes, a multiple of 8. @throws StoreError BLOCK_INVALID if it does not fit */
export function bigEndian(value: bigint, bytes: number): Buffer {
  if (value < 0n || value >= 1n << BigInt(8 * bytes))
    throw new StoreError("BLOCK_INVALID", `${value} does not fit ${bytes} bytes`);
  const word = Buffer.allocUnsafe(bytes);
  for (let at = bytes - 8, rest = value; at >= 0; at -= 8, rest >>= 64n)
    word.writeBigUInt64BE(BigInt.asUintN(64, rest), at);
  return word;
}

/** Every method throws StoreError RECORD_DAMAGED. */
export class BodyReader {
  private at = 0;

  constructor(
    private readonly name: string,
    private readonly body: Buffer,
  ) {}

  get left(): number {
    return this.body.length - this.at;
  }

  bytes(count: number): Buffer {
    const end = this.at + count;
    if (end > this.body.length)
      throw this.damage(`expected at least ${countOf(end, "byte")}, got ${this.body.length}`);
    const bytes = this.body.subarray(this.at, end);
    this.at = end;
    return bytes;
  }

  number(bytes = NUMBER_BYTES): number {
    return this.bytes(bytes).readUIntBE(0, bytes);
  }

  flag(): boolean {
    const flag = this.number(1);
    if (flag > 1) throw this.damage(`a flag: expected 0 or 1, got ${flag}`);
    return flag === 1;
  }

  /** @param bytes - a multiple of 8 */
  bigint(bytes: number): bigint {
    const word = this.bytes(bytes);
    let value = 0n;
    for (let at = 0; at < bytes; at += 8) value = (value << 64n) | word.readBigUInt64BE(at);
    return value;
  }

  /** @returns `value`, if nothing follows */
  end<Value>(value: Value): Value {
    if (this.at !== this.body.length)
      throw this.damage(`expected ${countOf(this.at, "byte")}, got ${this.body.length}`);
    return value;
  }

  damage(what: string): StoreError {
    return new StoreError("RECORD_DAMAGED", `${this.name}: ${what}`);
  }
}
