/** Transactions of anvil's first account. */
import type {Anvil} from "../processes/anvil.ts";
import {waitUntil} from "../wait.ts";

export interface Receipt {
  readonly status: string;
  readonly gasUsed: string;
  readonly blockNumber: string;
  readonly contractAddress: string | null;
  readonly transactionHash: string;
}

/** Sends it, and waits until it is in a block. @throws Error if it fails */
export async function sendTransaction(anvil: Anvil, transaction: object): Promise<Receipt> {
  const [from] = await anvil.request<readonly string[]>("eth_accounts");
  const hash = await anvil.request<string>("eth_sendTransaction", {from, gas: "0x1000000", ...transaction});
  let receipt: Receipt | null = null;
  // Anvil mines it at once, a moment after it has answered.
  await waitUntil(`transaction ${hash} to be in a block`, async () => {
    receipt = await anvil.request<Receipt | null>("eth_getTransactionReceipt", hash);
    return receipt !== null;
  });
  const {status} = receipt as unknown as Receipt;
  if (status !== "0x1") throw new Error(`transaction ${hash} failed`);
  return receipt as unknown as Receipt;
}
