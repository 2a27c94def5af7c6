/**
 * Sends proofs to the verifiers of contracts/ on anvil, as transactions, and prints what each costs.
 *
 * Gas is counted, not timed: the figures are the same on every machine.
 */
import * as AbiFunction from "ox/AbiFunction";
import {encodeHex} from "../../client/bytes/hex.ts";
import {HASH_SUITES} from "../../client/hash/hashSuites.ts";
import {type Artefact, readArtefact} from "../../contracts/artefacts.ts";
import {startAnvil} from "../peers/anvil.ts";
import type {ServerProcess} from "../program/serverProcess.ts";
import {writeTable} from "../program/table.ts";
import {type GasCase, makeGasCases} from "./gasCases.ts";

export interface GasFlags {
  readonly accounts: number;
  readonly slots: number;
  readonly suite: readonly string[];
}

interface Receipt {
  readonly status: string;
  readonly gasUsed: string;
  /** Of a created contract. */
  readonly contractAddress: unknown;
}

const VERIFIERS: Readonly<Record<string, string>> = {
  sha256: "Sha256ProofVerifier",
  poseidon2: "Poseidon2ProofVerifier",
};
const TRANSACTION_GAS = 21_000;
/** Of a byte that is not zero; a zero byte costs a quarter. */
const STANDARD_BYTE_GAS = 16;
/** EIP-7623: with this price of calldata and no price of execution, a transaction costs at least so much. */
const FLOOR_BYTE_GAS = 40;
/** EIP-7825: no transaction has more. */
const GAS_LIMIT = "0x1000000";

export async function measureGas({accounts, slots, suite: names}: GasFlags): Promise<void> {
  const anvil = await startAnvil("--hardfork", "osaka");
  try {
    const rows: string[][] = [];
    for (const suite of HASH_SUITES.filter(({name}) => names.includes(name)))
      for (const row of await measureSuite(anvil, makeGasCases(suite, accounts, slots), suite.name))
        rows.push(row);
    const heading = [
      "suite",
      "proof",
      "proof bytes",
      "gas",
      "calldata",
      "calldata at floor price",
      "execution",
    ];
    process.stdout.write(writeTable(heading, rows, 2));
  } finally {
    await anvil.stop();
  }
}

async function measureSuite(
  anvil: ServerProcess,
  cases: readonly GasCase[],
  suite: string,
): Promise<string[][]> {
  const artefact = readArtefact(VERIFIERS[suite] as string);
  const {contractAddress: to} = await send(anvil, {data: artefact.bytecode});
  const rows: string[][] = [];
  for (const gasCase of cases) {
    const data = encodeCall(artefact, gasCase);
    const gas = Number((await send(anvil, {to, data})).gasUsed);
    const [standard, floor] = [STANDARD_BYTE_GAS, FLOOR_BYTE_GAS].map(price => calldataGas(data, price));
    // At the floor price, execution costs nothing that shows.
    const execution = gas - TRANSACTION_GAS - (standard as number);
    const figures = [gasCase.proof.length, gas, standard, floor, execution] as readonly number[];
    rows.push([suite, gasCase.name, ...figures.map(n => n.toLocaleString("en").replaceAll(",", " "))]);
  }
  return rows;
}

function encodeCall(artefact: Artefact, {root, address, slots, proof}: GasCase): string {
  const method = (name: string) =>
    AbiFunction.fromAbi(artefact.abi as never, name as never) as AbiFunction.AbiFunction;
  const [stateRoot, account, bytes] = [root, address, proof].map(encodeHex);
  return slots === undefined
    ? AbiFunction.encodeData(method("verifyAccount"), [stateRoot, account, bytes])
    : AbiFunction.encodeData(method("verifySlots"), [stateRoot, account, slots.map(encodeHex), bytes]);
}

function calldataGas(data: string, byteGas: number): number {
  let gas = 0;
  for (const byte of Buffer.from(data.slice(2), "hex")) gas += byte === 0 ? byteGas / 4 : byteGas;
  return gas;
}

/** Sends a transaction, and waits until it is in a block. @throws Error if it fails */
async function send(anvil: ServerProcess, transaction: object): Promise<Receipt> {
  const [from] = (await anvil.call("eth_accounts")) as readonly string[];
  const hash = await anvil.call("eth_sendTransaction", [{from, gas: GAS_LIMIT, ...transaction}]);
  for (;;) {
    // Not there until the block is.
    const receipt = (await anvil.call("eth_getTransactionReceipt", [hash])) ?? undefined;
    if (receipt === undefined) continue;
    const {status} = receipt as Receipt;
    if (status !== "0x1") throw new Error(`transaction ${hash} failed`);
    return receipt as Receipt;
  }
}
