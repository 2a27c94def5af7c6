/** Anvil as layer 1, with a rollup contract that finalizes what a test tells it to. */
import {type AbiValue, encodeCall} from "../../../demo/abi.ts";
import type {ContractArtefact} from "../../../demo/artefact.ts";
import {rootOf} from "../chains/finalityEvents.ts";
import {type Receipt, sendTransaction} from "../contracts/transactions.ts";
import {Anvil} from "../processes/anvil.ts";
import {readFixture} from "../reference/fixtures.ts";

/** With one slot in an epoch, anvil calls a block finalized once two more are above it. */
const ARGUMENTS = ["--slots-in-an-epoch", "1"];
const FINAL_AFTER = 2;

export class Layer1 {
  /** Replaced by `restart`. */
  anvil: Anvil;
  /** Of the contract. */
  readonly address: string;
  private readonly contract: ContractArtefact;
  private readonly sender: string;

  private constructor(anvil: Anvil, address: string, contract: ContractArtefact, sender: string) {
    this.anvil = anvil;
    this.address = address;
    this.contract = contract;
    this.sender = sender;
  }

  /**
   * Starts anvil, mines some blocks and deploys the contract.
   *
   * @returns a text that says why not, if anvil is not installed
   */
  static async start(): Promise<Layer1 | string> {
    const anvil = await Anvil.start(ARGUMENTS);
    if (typeof anvil === "string") return anvil;
    await anvil.request("anvil_mine", "0x14");
    return Layer1.deployOn(anvil);
  }

  deploy(): Promise<Layer1> {
    return Layer1.deployOn(this.anvil);
  }

  private static async deployOn(anvil: Anvil): Promise<Layer1> {
    const {contract} = readFixture<{contract: ContractArtefact}>("own/rollup");
    const [sender] = (await anvil.request<string[]>("eth_accounts")) as [string];
    const {contractAddress} = await sendTransaction(anvil, {from: sender, data: `0x${contract.bytecode}`});
    return new Layer1(anvil, contractAddress as string, contract, sender);
  }

  /** Emits DataFinalizedV3 with roots that name their blocks, unless others are given. */
  finalize(startBlock: number, endBlock: number, parent?: Uint8Array, final?: Uint8Array): Promise<Receipt> {
    const roots = [parent ?? rootOf(startBlock - 1), final ?? rootOf(endBlock)];
    return this.call(
      "finalize(uint256,uint256,bytes32,bytes32)",
      BigInt(startBlock),
      BigInt(endBlock),
      ...roots,
    );
  }

  /** Emits DataFinalizedV4. */
  finalizeHash(
    startBlock: number,
    endBlock: number,
    parent: Uint8Array,
    final: Uint8Array,
  ): Promise<Receipt> {
    const signature = "finalizeHash(uint256,uint256,bytes32,bytes32)";
    return this.call(signature, BigInt(startBlock), BigInt(endBlock), parent, final);
  }

  /** Emits DataFinalized. */
  finalizeOld(endBlock: number, parent: Uint8Array, final: Uint8Array): Promise<Receipt> {
    return this.call("finalizeOld(uint256,bytes32,bytes32)", BigInt(endBlock), parent, final);
  }

  /** Mines until all blocks of now are final. */
  async settle(): Promise<void> {
    await this.anvil.request("anvil_mine", `0x${FINAL_AFTER.toString(16)}`);
  }

  /** Starts the node again on its port, with its blocks. @param path - of a file for them */
  async restart(path: string): Promise<void> {
    this.anvil = await this.anvil.restart(path, ARGUMENTS, async () => {});
  }

  stop(): Promise<void> {
    return this.anvil.stop();
  }

  private call(signature: string, ...values: readonly AbiValue[]): Promise<Receipt> {
    const data = `0x${Buffer.from(encodeCall(this.contract, signature, ...values)).toString("hex")}`;
    return sendTransaction(this.anvil, {from: this.sender, to: this.address, data});
  }
}
