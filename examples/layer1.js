/** A contract on layer 1, by a node that has an unlocked account, such as anvil. */
import * as AbiError from "ox/AbiError";
import * as AbiFunction from "ox/AbiFunction";

export class Contract {
  /** @param abi - of the contract, with the errors of those that it calls @throws Error if the address is none */
  constructor(url, address, abi) {
    if (!/^0x[0-9a-fA-F]{40}$/.test(address))
      throw new Error(`expected the address of a contract, 0x and 40 hex digits, got ${address}`);
    this.url = url;
    this.address = address;
    this.abi = abi;
  }

  /** Calls the node. */
  async ask(method, ...params) {
    const response = await fetch(this.url, {
      method: "POST",
      headers: {"content-type": "application/json"},
      body: JSON.stringify({jsonrpc: "2.0", id: 1, method, params}),
    }).catch(error => {
      throw new Error(`no answer from layer 1: ${error.cause?.message ?? error.message}`, {cause: error});
    });
    const {result, error} = await response.json();
    if (error !== undefined)
      throw Object.assign(new Error(`${method}: ${error.message}`), {data: error.data});
    return result;
  }

  async read(name, ...args) {
    const method = AbiFunction.fromAbi(this.abi, name);
    const call = {to: this.address, data: AbiFunction.encodeData(method, args)};
    const result = await this.ask("eth_call", call, "latest");
    if (result === "0x") throw new Error(`there is no such contract at ${this.address} on layer 1`);
    return AbiFunction.decodeResult(method, result);
  }

  /** Tries a transaction of the node's first account without sending it, sends it, and waits until it is in a block. */
  async send(name, ...args) {
    const [from] = await this.ask("eth_accounts");
    const data = AbiFunction.encodeData(AbiFunction.fromAbi(this.abi, name), args);
    const transaction = {from, to: this.address, data};
    await this.ask("eth_call", transaction, "latest").catch(error => {
      const reason = error.data === undefined ? error.message : AbiError.fromAbi(this.abi, error.data).name;
      throw new Error(`the contract refuses the ${name}: ${reason}`, {cause: error});
    });
    const hash = await this.ask("eth_sendTransaction", transaction);
    for (;;) {
      const receipt = await this.ask("eth_getTransactionReceipt", hash);
      if (receipt?.status === "0x1") return receipt;
      if (receipt?.status === "0x0") throw new Error(`transaction ${hash} failed`);
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  }
}
