/** The rollup contract on a layer 1 that is a geth: its transactions go into blocks that the test makes. */
import {encodeCall} from "../../../demo/abi.ts";
import type {ContractArtefact} from "../../../demo/artefact.ts";
import type {EngineChain} from "../chains/engineChain.ts";
import type {Sent} from "../chains/people.ts";
import type {RealNode} from "../processes/realNode.ts";
import {readFixture} from "../reference/fixtures.ts";

const DEPLOYMENT_GAS = 2_000_000n;

interface Receipt {
  readonly status: string;
  readonly contractAddress: string;
}

export class GethRollup {
  private constructor(
    readonly address: string,
    private readonly contract: ContractArtefact,
  ) {}

  /** Deploys the contract in the chain's next block. @param node - of the chain */
  static async deploy(chain: EngineChain, node: RealNode): Promise<GethRollup> {
    const {contract} = readFixture<{contract: ContractArtefact}>("own/rollup");
    const data = Buffer.from(contract.bytecode, "hex");
    const block = await chain.seal({transactions: [{data, gas: DEPLOYMENT_GAS}]});
    const tag = `0x${block.toString(16)}`;
    const [receipt] = await node.request<readonly Receipt[]>("eth_getBlockReceipts", tag);
    if (receipt?.status !== "0x1") throw new Error(`the deployment failed: ${JSON.stringify(receipt)}`);
    return new GethRollup(receipt.contractAddress, contract);
  }

  /** A transaction that emits DataFinalizedV3. @param parent - root of the block before `start`, 0x and 64 digits, as `final` */
  finalize(start: number, end: number, parent: string, final: string): Sent {
    const signature = "finalize(uint256,uint256,bytes32,bytes32)";
    return {
      to: this.address,
      data: encodeCall(this.contract, signature, BigInt(start), BigInt(end), parent, final),
    };
  }
}
