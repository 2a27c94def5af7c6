/** viem: its action `estimateGas` of `viem/linea`. */
import assert from "node:assert/strict";
import {createPublicClient, defineChain, encodeFunctionData, erc20Abi, http} from "viem";
import {estimateGas} from "viem/linea";

const TRANSFER_GAS = 21_000n;
/** Base fee of every block of the demo chain. */
const BASE_FEE = 7n;

export async function checkViem(url, {chainId, account, absent, token}) {
  const chain = defineChain({
    id: chainId,
    name: "demo",
    nativeCurrency: {name: "Ether", symbol: "ETH", decimals: 18},
    rpcUrls: {default: {http: [url]}},
  });
  const client = createPublicClient({chain, transport: http()});
  assert.equal(await client.getChainId(), chainId);

  const transfer = await estimateGas(client, {account: account.address, to: absent.address, value: 1n});
  show("a transfer", transfer);
  assert.equal(transfer.gasLimit, TRANSFER_GAS);

  const data = encodeFunctionData({abi: erc20Abi, functionName: "transfer", args: [absent.address, 1n]});
  const call = {account: token.holder, to: token.address, data};
  const tokens = await estimateGas(client, {...call, blockTag: "latest"});
  show("a transfer of tokens, at latest", tokens);
  assert.ok(tokens.gasLimit > TRANSFER_GAS);

  // The sender has no tokens without the override, so the call would revert.
  const overridden = await estimateGas(client, {
    ...call,
    stateOverride: [
      {
        address: token.address,
        stateDiff: [{slot: token.holderBalanceSlot, value: `0x${"1".padStart(64, "0")}`}],
      },
    ],
  });
  show("the same with an overridden balance", overridden);
  assert.ok(overridden.gasLimit > TRANSFER_GAS);

  const tooMuch = encodeFunctionData({
    abi: erc20Abi,
    functionName: "transfer",
    args: [absent.address, 2n ** 255n],
  });
  await assert.rejects(estimateGas(client, {...call, data: tooMuch}), error => {
    console.log(`viem/linea estimateGas, more tokens than there are: ${error.cause.name}`);
    return error.cause.name === "ExecutionRevertedError";
  });
}

function show(what, {gasLimit, baseFeePerGas, priorityFeePerGas}) {
  console.log(
    `viem/linea estimateGas, ${what}: gasLimit ${gasLimit}, baseFeePerGas ${baseFeePerGas}, priorityFeePerGas ${priorityFeePerGas}`,
  );
  assert.equal(baseFeePerGas, BASE_FEE);
  assert.ok(priorityFeePerGas > 0n);
}
