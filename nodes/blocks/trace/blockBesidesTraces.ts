/** The parts of a block that are needed besides its traces. */
import {toHex} from "../../../storage/hex.ts";
import {
  type JsonObject,
  parseAddress,
  parseArray,
  parseFixedBytes,
  parseObject,
  parseQuantity,
  parseWord,
} from "../../rpc/answerValues.ts";
import {NodeFailure} from "../../rpc/node.ts";
import type {NodeHeader} from "../nodeHeader.ts";

export interface BlockBesidesTraces {
  readonly header: NodeHeader;
  /** `0x` and 64 digits in lower case, in the order of the block. */
  readonly transactions: readonly string[];
  /** Accounts (`0x` and 40 digits) that are always read: fee recipient, withdrawals, senders and recipients. */
  readonly addresses: ReadonlySet<string>;
  /** Signers of authorizations. Tracers before mid-2025 leave out the change of their code, or the accounts. */
  readonly authorities: ReadonlySet<string>;
  readonly uncles: number;
}

/** An EIP-7702 authorization. Its address has 20 bytes. */
type Authorization = Readonly<Record<"chainId" | "nonce" | "yParity" | "r" | "s", bigint>> & {
  readonly address: Uint8Array;
};

/** @returns the signer, 20 bytes; undefined if the signature is invalid: then the authorization has no effect */
export type RecoverAuthority = (authorization: Authorization) => Uint8Array | undefined;

/** Ethereum allows two uncles. */
const MAX_UNCLES = 16;

/** @param recoverAuthority - the transactions are full, not only hashes. @throws NodeFailure */
export function parseBlockBesidesTraces(
  block: JsonObject,
  header: NodeHeader,
  recoverAuthority?: RecoverAuthority,
): BlockBesidesTraces {
  const {number} = header;
  const where = (field: string): string => `block ${number}: ${field}`;
  const addresses = new Set([parseAddress(block.miner, where("miner"))]);
  const authorities = new Set<string>();
  const transactions = parseArray(block.transactions, where("transactions")).map((value, position) => {
    const field = where(`transaction ${position}`);
    if (recoverAuthority === undefined) return parseWord(value, field);
    const transaction = parseObject(value, field);
    addresses.add(parseAddress(transaction.from, `${field}: from`));
    if ((transaction.to ?? undefined) !== undefined)
      addresses.add(parseAddress(transaction.to, `${field}: to`));
    // Nonce and code of a signer change even if the transaction fails.
    const list = parseArray(transaction.authorizationList ?? [], `${field}: authorizationList`);
    for (const [position, value] of list.entries()) {
      const where = `${field}: authorization ${position}`;
      const fields = parseObject(value, where);
      const quantity = (name: string, bits: number) => parseQuantity(fields[name], `${where}: ${name}`, bits);
      const authority = recoverAuthority({
        ...{chainId: quantity("chainId", 256), nonce: quantity("nonce", 64)},
        address: parseFixedBytes(fields.address, `${where}: address`, 20),
        ...{yParity: quantity("yParity", 8), r: quantity("r", 256), s: quantity("s", 256)},
      });
      if (authority !== undefined) authorities.add(toHex(authority));
    }
    return parseWord(transaction.hash, `${field}: hash`);
  });
  for (const [position, value] of parseArray(block.withdrawals ?? [], where("withdrawals")).entries()) {
    const field = where(`withdrawal ${position}`);
    addresses.add(parseAddress(parseObject(value, field).address, `${field}: address`));
  }
  const uncles = parseArray(block.uncles ?? [], where("uncles")).length;
  if (uncles > MAX_UNCLES)
    throw new NodeFailure(where(`expected at most ${MAX_UNCLES} uncles, got ${uncles}`));
  return {header, transactions, addresses, authorities, uncles};
}
