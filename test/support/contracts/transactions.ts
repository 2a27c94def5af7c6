/** Transactions of anvil's first account. */
import type {Anvil} from "../processes/anvil.ts";

export interface Receipt {
  readonly status: string;
  readonly gasUsed: string;
  readonly contractAddress: string | null;
  readonly transactionHash: string;
}

/** Sends it, and waits until it is in a block. @throws Error if it fails */
export async function sendTransaction(anvil: Anvil, transaction: object): Promise<Receipt> {
  const [from] = await anvil.request<readonly string[]>("eth_accounts");
  const hash = await anvil.request<string>("eth_sendTransaction", {from, gas: "0x1000000", ...transaction});
  for (;;) {
    // Anvil mines it at once, a moment after it has answered.
    const receipt = await anvil.request<Receipt | null>("eth_getTransactionReceipt", hash);
    if (receipt === null) continue;
    if (receipt.status !== "0x1") throw new Error(`transaction ${hash} failed`);
    return receipt;
  }
}
