/**
 * Checks the pages of a column chunk before the reader, which trusts the sizes in their headers, decompresses them:
 *
 *   chunk     page, page, ..
 *   page      header | levels, which say which rows have a value | values, compressed
 *   levels, and indexes into a dictionary: runs, of one value many times or of packed values
 */

const DICTIONARY_PAGE = 2;
const DATA_PAGE_V2 = 3;
const PLAIN = 0;
const DICTIONARY_INDEXES = 8;
const LEVEL_BITS = 1;
const MAX_BITS = 24;
const MAX_VARINT_BYTES = 9;

/** @returns the decompressed page. @throws Error if `bytes` cannot decompress to `length` */
type Uncompress = (bytes: Uint8Array, length: number) => Uint8Array;

/** @param maxValues - of a page. @throws Error for pages that the writer does not make */
export function checkPages(chunk: Uint8Array, maxValues: number, uncompress: Uncompress): void {
  const reader = new Reader(chunk);
  while (!reader.isAtEnd) {
    const header = reader.struct();
    const [type, length] = [numberAt(header, 1), numberAt(header, 2)];
    const page = reader.bytes(numberAt(header, 3));
    if (type === DICTIONARY_PAGE) requireMost(numberAt(structAt(header, 7), 1), maxValues);
    else if (type === DATA_PAGE_V2) checkDataPage(page, length, structAt(header, 8), maxValues, uncompress);
    else throw new Error(`expected pages of type ${DICTIONARY_PAGE} or ${DATA_PAGE_V2}, got ${type}`);
  }
}

function checkDataPage(
  page: Uint8Array,
  length: number,
  header: Struct,
  maxValues: number,
  uncompress: Uncompress,
): void {
  const [values, nulls, encoding] = [numberAt(header, 1), numberAt(header, 2), numberAt(header, 4)];
  const levels = numberAt(header, 5);
  requireMost(values, maxValues);
  requireMost(nulls, values);
  requireMost(levels, Math.min(page.length, length));
  if (numberAt(header, 6) !== 0 || header.get(7) === false)
    throw new Error("expected a page without repeated values, compressed");
  if (levels > 0) checkRuns(page.subarray(0, levels), LEVEL_BITS, values);
  if (encoding === PLAIN) return;
  if (encoding !== DICTIONARY_INDEXES) throw new Error(`expected plain values or indexes, got ${encoding}`);
  const indexes = uncompress(page.subarray(levels), length - levels);
  checkRuns(indexes.subarray(1), indexes[0] ?? 0, values - nulls);
}

/** @throws Error unless the runs have so many values; a packed one has up to seven more */
function checkRuns(bytes: Uint8Array, bits: number, values: number): void {
  requireMost(bits, MAX_BITS);
  const reader = new Reader(bytes);
  let seen = 0;
  while (seen < values) {
    const head = reader.varint();
    const isPacked = head % 2 === 1;
    const count = Math.floor(head / 2) * (isPacked ? 8 : 1);
    requireMost(count, values - seen + (isPacked ? 7 : 0));
    reader.bytes(isPacked ? (count * bits) / 8 : Math.ceil(bits / 8));
    seen += count;
  }
}

function requireMost(value: number, most: number): void {
  if (!(value >= 0 && value <= most)) throw new Error(`expected at most ${most} in a page, got ${value}`);
}

/** Fields of Thrift's compact protocol, by their numbers. */
type Struct = ReadonlyMap<number, Field>;
type Field = number | boolean | Struct | undefined;

function numberAt(struct: Struct, field: number): number {
  const value = struct.get(field);
  if (typeof value === "number") return value;
  throw new Error(`expected field ${field} in the header of a page`);
}

function structAt(struct: Struct, field: number): Struct {
  const value = struct.get(field);
  if (value instanceof Map) return value;
  throw new Error(`expected field ${field} in the header of a page`);
}

class Reader {
  private at = 0;

  constructor(private readonly source: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.at >= this.source.length;
  }

  bytes(length: number): Uint8Array {
    if (!(length >= 0 && length <= this.source.length - this.at)) throw new Error("a page ends too early");
    this.at += length;
    return this.source.subarray(this.at - length, this.at);
  }

  varint(): number {
    let value = 0;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      const byte = this.bytes(1)[0] as number;
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return value;
    }
    throw new Error("a page has a number that is too long");
  }

  /** Without lists, and structs in structs in structs: page headers have none. */
  struct(depth = 0): Struct {
    const fields = new Map<number, Field>();
    let field = 0;
    for (;;) {
      const head = this.bytes(1)[0] as number;
      if (head % 16 === 0) return fields;
      field = head >= 16 ? field + (head >> 4) : this.zigzag();
      fields.set(field, this.value(head % 16, depth));
    }
  }

  private value(type: number, depth: number): Field {
    if (type === 1 || type === 2) return type === 1;
    if (type === 4 || type === 5) return this.zigzag();
    if (type === 12 && depth === 0) return this.struct(depth + 1);
    throw new Error(`a page's header has a field of type ${type}`);
  }

  /** As many bits as the other reader takes. */
  private zigzag(): number {
    const value = this.varint();
    requireMost(value, 2 ** 32 - 1);
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}
