/**
 * Creates a contract: signs an EIP-1559 transaction, sends it, and waits until it is in a block.
 *
 *   0x02 | RLP [chain id, nonce, tip, fee, gas, to: empty, value: 0, creation code | arguments, access list: [], y parity, r, s]
 */
import {setTimeout as sleep} from "node:timers/promises";
import {RLP} from "@ethereumjs/rlp";
import {secp256k1} from "@noble/curves/secp256k1.js";
import {keccak_256} from "@noble/hashes/sha3.js";
import type {Node} from "./node.ts";

const TRANSACTION_TYPE = Uint8Array.of(2);
const WORD_DIGITS = 64;
const POLL_MS = 250;
/** Twenty-five slots of mainnet. */
const MAX_POLLS = (300 * 1000) / POLL_MS;

/** Creation code and the constructor's arguments, each of one word: a number or an address, 0x text. */
export interface Creation {
  /** Of the contract. */
  readonly name: string;
  readonly bytecode: `0x${string}`;
  readonly args: readonly (bigint | string)[];
}

interface Created {
  /** Of the contract, 0x text. */
  readonly address: string;
  readonly transaction: string;
}

/** @param text - of a private key, 0x text @throws Error if it is no key */
export function readKey(text: string): Uint8Array {
  const key = /^0x[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text.slice(2), "hex") : undefined;
  if (key !== undefined && secp256k1.utils.isValidSecretKey(key)) return key;
  throw new Error("DEPLOY_KEY: expected the account's private key, 0x and 64 hex digits");
}

/** @param key - of the account that pays. @throws Error that names what failed. The transaction is named if it was sent */
export async function create(node: Node, key: Uint8Array, {bytecode, args}: Creation): Promise<Created> {
  const address = toHex(keccak_256(secp256k1.getPublicKey(key, false).subarray(1)).subarray(12));
  const words = args.map(arg => BigInt(arg).toString(16).padStart(WORD_DIGITS, "0"));
  const data = `${bytecode}${words.join("")}`;
  const gas = await node.askQuantity("eth_estimateGas", {from: address, data});
  const tip = await node.askQuantity("eth_maxPriorityFeePerGas");
  const {baseFeePerGas} = Object(await node.ask("eth_getBlockByNumber", "latest", false));
  if (typeof baseFeePerGas !== "string")
    throw new Error(`${node.name}: the chain has no base fee, so it takes no transactions of EIP-1559`);
  const fields = [
    await node.askQuantity("eth_chainId"),
    await node.askQuantity("eth_getTransactionCount", address, "pending"),
    ...[tip, 2n * BigInt(baseFeePerGas) + tip],
    // An estimate may be short by what the next block changes.
    ...[gas + gas / 10n, new Uint8Array(0), 0n, Buffer.from(data.slice(2), "hex"), []],
  ];
  const transaction = await node.ask("eth_sendRawTransaction", toHex(sign(fields, key)));
  if (typeof transaction !== "string" || !/^0x[0-9a-f]{64}$/i.test(transaction))
    throw new Error(`${node.name} answers eth_sendRawTransaction with no hash of a transaction`);
  return {address: await settle(node, transaction), transaction};
}

function sign(fields: Parameters<typeof RLP.encode>[0][], key: Uint8Array): Uint8Array {
  const unsigned = Buffer.concat([TRANSACTION_TYPE, RLP.encode(fields)]);
  const signature = secp256k1.sign(keccak_256(unsigned), key, {prehash: false, format: "recovered"});
  const [parity, r, s] = [signature.subarray(0, 1), signature.subarray(1, 33), signature.subarray(33)];
  const numbers = [parity, r, s].map(bytes => BigInt(toHex(bytes)));
  return Buffer.concat([TRANSACTION_TYPE, RLP.encode([...fields, ...numbers])]);
}

/** @returns the address of what the transaction has created */
async function settle(node: Node, transaction: string): Promise<string> {
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    const receipt = Object(await node.ask("eth_getTransactionReceipt", transaction));
    const {status, contractAddress, blockNumber} = receipt as Readonly<Record<string, unknown>>;
    if (status === undefined) {
      await sleep(POLL_MS);
      continue;
    }
    if (status !== "0x1")
      throw new Error(`transaction ${transaction} failed in block ${Number(blockNumber)}`);
    if ((await node.ask("eth_getCode", contractAddress, "latest")) === "0x")
      throw new Error(`transaction ${transaction} has left no code at ${contractAddress}`);
    return String(contractAddress);
  }
  const seconds = (MAX_POLLS * POLL_MS) / 1000;
  throw new Error(`transaction ${transaction} is in no block after ${seconds} s. It may still come`);
}

function toHex(bytes: Uint8Array): `0x${string}` {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}
