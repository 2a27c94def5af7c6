/**
 * Contract calls in the ABI's encoding, as far as the demo's contracts need it.
 */
import type {ContractArtefact} from "./artefact.ts";

/** A quantity or bytes32 (bigint), an address (20 bytes), or a part made by `list`, `tuple` or `bytes`. */
export type AbiValue = bigint | Uint8Array | AbiPart;

interface AbiPart {
  /** Dynamic parts lie behind the heads, which hold their offsets. */
  readonly isDynamic: boolean;
  readonly encoding: Buffer;
}

const WORD = 32;

/** Selector and arguments; `signature` as solc writes it, "transfer(address,uint256)". */
export function encodeCall(
  contract: ContractArtefact,
  signature: string,
  ...values: readonly AbiValue[]
): Uint8Array {
  const selector = contract.methods[signature];
  if (selector === undefined) throw new Error(`no method ${signature}`);
  return concat([Buffer.from(selector, "hex"), encodeParts(values.map(toPart))]);
}

/** Creation code and constructor arguments. */
export function encodeCreation(contract: ContractArtefact, ...values: readonly AbiValue[]): Uint8Array {
  return concat([Buffer.from(contract.bytecode, "hex"), encodeParts(values.map(toPart))]);
}

export function list(values: readonly AbiValue[]): AbiPart {
  return {
    isDynamic: true,
    encoding: Buffer.concat([word(BigInt(values.length)), encodeParts(values.map(toPart))]),
  };
}

export function tuple(...values: readonly AbiValue[]): AbiPart {
  const parts = values.map(toPart);
  return {isDynamic: parts.some(part => part.isDynamic), encoding: encodeParts(parts)};
}

export function bytes(value: Uint8Array): AbiPart {
  const padding = Buffer.alloc((WORD - (value.length % WORD)) % WORD);
  return {isDynamic: true, encoding: Buffer.concat([word(BigInt(value.length)), value, padding])};
}

export function word(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * WORD, "0"), "hex");
}

export function addressWord(address: Uint8Array): Buffer {
  return Buffer.concat([Buffer.alloc(WORD - address.length), address]);
}

function toPart(value: AbiValue): AbiPart {
  if (typeof value === "bigint") return {isDynamic: false, encoding: word(value)};
  if (value instanceof Uint8Array) return {isDynamic: false, encoding: addressWord(value)};
  return value;
}

function encodeParts(parts: readonly AbiPart[]): Buffer {
  let offset = 0;
  for (const part of parts) offset += part.isDynamic ? WORD : part.encoding.length;
  const heads: Buffer[] = [];
  const tails: Buffer[] = [];
  for (const {isDynamic, encoding} of parts) {
    heads.push(isDynamic ? word(BigInt(offset)) : encoding);
    if (!isDynamic) continue;
    tails.push(encoding);
    offset += encoding.length;
  }
  return Buffer.concat([...heads, ...tails]);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
