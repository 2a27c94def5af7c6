/**
 * AssemblyScript, not TypeScript: `npm run build` compiles it to dist/storage/leveldb/crc32c.wasm, for crc32c.ts.
 *
 * CRC-32C, eight bytes a step ("slicing by 8", Kounavis and Berry 2005): table k has the effect of a byte that k more
 * bytes follow.
 */

const POLYNOMIAL: u32 = 0x82f63b78;
const ROW: usize = 1024;
const TABLES: usize = memory.data(8192, 4);

for (let byte: u32 = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  store<u32>(TABLES + byte * 4, crc);
}
for (let row = ROW; row < 8 * ROW; row += ROW)
  for (let at: usize = 0; at < ROW; at += 4) {
    const before = load<u32>(TABLES + row - ROW + at);
    store<u32>(TABLES + row + at, entry(0, before) ^ (before >>> 8));
  }

/** Where there is room for bytes, up to the memory's end. */
export const bytesAt: usize = __heap_base;

/** @param crc - of what comes before; 0 at the start. @returns the CRC of it and the first bytes at bytesAt */
export function update(crc: u32, bytes: u32): u32 {
  const end = bytesAt + bytes;
  let from = bytesAt;
  let state = ~crc;
  for (; from + 8 <= end; from += 8) {
    const low = load<u32>(from) ^ state;
    const high = load<u32>(from, 4);
    state =
      entry(7, low) ^
      entry(6, low >>> 8) ^
      entry(5, low >>> 16) ^
      entry(4, low >>> 24) ^
      entry(3, high) ^
      entry(2, high >>> 8) ^
      entry(1, high >>> 16) ^
      entry(0, high >>> 24);
  }
  for (; from < end; from++) state = entry(0, state ^ load<u8>(from)) ^ (state >>> 8);
  return ~state;
}

function entry(row: usize, byte: u32): u32 {
  return load<u32>(TABLES + row * ROW + ((byte & 0xff) << 2));
}
