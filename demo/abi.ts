/** ABI encoding of contract calls. */
import * as AbiParameters from "ox/AbiParameters";
import type {ContractArtefact} from "./artefact.ts";

/** Addresses and bytes are Uint8Arrays or 0x hex. Arrays and tuples are lists. */
export type AbiValue = bigint | boolean | string | Uint8Array | readonly AbiValue[];

const WORD = 32;

/** @param signature - as solc writes it, such as "transfer(address,uint256)" */
export function encodeCall(
  contract: ContractArtefact,
  signature: string,
  ...values: readonly AbiValue[]
): Uint8Array {
  const selector = contract.methods[signature];
  if (selector === undefined) throw new Error(`no method ${signature}`);
  const types = signature.slice(signature.indexOf("(") + 1, -1);
  const parameters = types === "" ? [] : AbiParameters.from(types);
  // ox infers the types of values from a literal signature.
  const encoded: string = AbiParameters.encode(parameters as readonly unknown[], values.map(toOx) as never);
  return new Uint8Array(Buffer.from(`${selector}${encoded.slice(2)}`, "hex"));
}

export function addressWord(address: Uint8Array): Buffer {
  return Buffer.concat([Buffer.alloc(WORD - address.length), address]);
}

/** ox takes bytes as hex text. */
function toOx(value: AbiValue): unknown {
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString("hex")}`;
  return typeof value === "object" ? value.map(toOx) : value;
}
