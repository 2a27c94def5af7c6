/**
 * Proof bytes (docs/proofs.md, section 9.1).
 *
 *   0x01 | part of the account tree        for entries: addresses with their slots
 *   0x02 | part of one storage tree        for slots
 */
import type {HashSuite} from "../hash/hashSuites.ts";
import {check} from "../proof/strictJson.ts";
import type {Asked} from "./askedKeys.ts";
import {ByteReader} from "./byteReader.ts";
import {ByteWriter} from "./byteWriter.ts";
import {readPart, writePart} from "./partBytes.ts";
import type {TreePart} from "./treePart.ts";

const FIRST_BYTE: Readonly<Record<Asked["tree"], number>> = {accounts: 0x01, slots: 0x02};

/** @throws ProofError if the bytes are no proof for the keys asked for. The part is not verified yet */
export function decodeProofBytes(suite: HashSuite, bytes: Uint8Array, asked: Asked): TreePart {
  const reader = new ByteReader(bytes);
  const first = FIRST_BYTE[asked.tree];
  check(reader.u8() === first, "byte 0", `is not ${first}, the form of a proof of ${asked.tree}`);
  const part = readPart(suite, reader, asked);
  reader.end();
  return part;
}

/** @throws ProofError if an account of the part has no compact form */
export function encodeProofBytes(suite: HashSuite, tree: Asked["tree"], part: TreePart): Uint8Array {
  const writer = new ByteWriter();
  writer.u8(FIRST_BYTE[tree]);
  writePart(suite, writer, part);
  return writer.finish();
}
