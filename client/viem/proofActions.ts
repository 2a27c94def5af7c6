/**
 * The methods of the client as actions of a viem client, which then makes the calls.
 *
 * @module
 */
import {orAborted} from "../rpc/abortable.ts";
import type {RpcCaller} from "../rpc/rpcCaller.ts";
import {bindMethods, type ProofClient} from "../service/proofClient.ts";
import {type NoTrust, type Trust, TrustedRoots} from "../service/trustedRoot.ts";

/** What is needed of a viem client, or of any provider of EIP-1193. */
export interface RequestingClient {
  /** Called with `{method, params}`. */
  request(call: never): Promise<unknown>;
}

/**
 * Actions for `client.extend`. They are under one name, `proofs`, because viem has a `getProof` and an `estimateGas` of its own.
 *
 *     const client = createPublicClient({transport: http(url)}).extend(proofActions({suite: sha256Suite, trustedRoot}));
 *     const {account} = await client.proofs.getProof({address});
 *
 * Batches, retries and limits are those of viem's transport, and so are the errors of calls. A proof that does not verify is a
 * ProofError. Give the transport a `timeout` above the default for large proofs.
 *
 * @throws TypeError for a trusted root that is none
 */
export function proofActions(trust: Trust): (client: RequestingClient) => {readonly proofs: ProofClient};
export function proofActions(
  trust: NoTrust,
): (client: RequestingClient) => {readonly proofs: ProofClient<false>};
export function proofActions(
  trust: Trust | NoTrust,
): (client: RequestingClient) => {readonly proofs: ProofClient<boolean>} {
  const verifier = trust.verify === false ? undefined : new TrustedRoots(trust);
  return client => ({proofs: bindMethods(createCaller(client), verifier)});
}

function createCaller(client: RequestingClient): RpcCaller {
  return {
    async call({method, params}, signal) {
      signal?.throwIfAborted();
      return orAborted(client.request({method, params} as never), signal);
    },
  };
}
