/**
 * Deploys a contract: signs an EIP-1559 transaction, sends it, and waits for its receipt.
 *
 *   0x02 | RLP [chain id, nonce, tip, fee, gas, to: empty, value: 0, creation code | arguments, access list: [],
 *               y parity, r, s]
 */
import {setTimeout as sleep} from "node:timers/promises";
import {RLP} from "@ethereumjs/rlp";
import {secp256k1} from "@noble/curves/secp256k1.js";
import {keccak_256} from "@noble/hashes/sha3.js";
import type {Node} from "./node.ts";

const TRANSACTION_TYPE = Uint8Array.of(2);
const WORD_DIGITS = 64;
const POLL_MS = 250;
/** Five minutes: 25 slots of mainnet. */
const MAX_POLLS = (300 * 1000) / POLL_MS;

/** A contract to deploy. Each constructor argument is one ABI word: a number, or an address as 0x hex. */
export interface Creation {
  readonly name: string;
  readonly bytecode: `0x${string}`;
  readonly args: readonly (bigint | string)[];
}

/** @param text - a private key as 0x hex. @throws Error if it is not valid */
export function readKey(text: string): Uint8Array {
  const key = /^0x[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text.slice(2), "hex") : undefined;
  if (key !== undefined && secp256k1.utils.isValidSecretKey(key)) return key;
  throw new Error("DEPLOY_KEY: expected the account's private key, 0x and 64 hex digits");
}

/** @param key - private key of the account that pays. @throws Error that names the transaction if it was sent */
export async function create(node: Node, key: Uint8Array, {bytecode, args}: Creation) {
  const address = toHex(keccak_256(secp256k1.getPublicKey(key, false).subarray(1)).subarray(12));
  const words = args.map(arg => BigInt(arg).toString(16).padStart(WORD_DIGITS, "0"));
  const data = `${bytecode}${words.join("")}`;
  const gas = await node.askQuantity("eth_estimateGas", {from: address, data});
  const tip = await node.askQuantity("eth_maxPriorityFeePerGas");
  const {baseFeePerGas} = Object(await node.ask("eth_getBlockByNumber", "latest", false));
  if (typeof baseFeePerGas !== "string")
    throw new Error(`${node.name}: the chain has no base fee, so it does not accept EIP-1559 transactions`);
  const fields = [
    await node.askQuantity("eth_chainId"),
    await node.askQuantity("eth_getTransactionCount", address, "pending"),
    ...[tip, 2n * BigInt(baseFeePerGas) + tip],
    // The next block may change the state, and with it the gas that is needed.
    ...[gas + gas / 10n, new Uint8Array(0), 0n, Buffer.from(data.slice(2), "hex"), []],
  ];
  const transaction = await node.ask("eth_sendRawTransaction", toHex(sign(fields, key)));
  if (typeof transaction !== "string" || !/^0x[0-9a-f]{64}$/i.test(transaction))
    throw new Error(`${node.name} answers eth_sendRawTransaction without a transaction hash`);
  return {address: await waitForReceipt(node, transaction), transaction};
}

function sign(fields: Parameters<typeof RLP.encode>[0][], key: Uint8Array): Uint8Array {
  const unsigned = Buffer.concat([TRANSACTION_TYPE, RLP.encode(fields)]);
  const signature = secp256k1.sign(keccak_256(unsigned), key, {prehash: false, format: "recovered"});
  const [parity, r, s] = [signature.subarray(0, 1), signature.subarray(1, 33), signature.subarray(33)];
  const numbers = [parity, r, s].map(bytes => BigInt(toHex(bytes)));
  return Buffer.concat([TRANSACTION_TYPE, RLP.encode([...fields, ...numbers])]);
}

async function waitForReceipt(node: Node, transaction: string): Promise<string> {
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
      throw new Error(`transaction ${transaction} left no code at ${contractAddress}`);
    return String(contractAddress);
  }
  const seconds = (MAX_POLLS * POLL_MS) / 1000;
  throw new Error(
    `transaction ${transaction} is not in a block after ${seconds} s. It may still be included`,
  );
}

function toHex(bytes: Uint8Array): `0x${string}` {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}
