/** Shows whether the service is ready, and its newest blocks, while the page is visible. */
import type {ProofClient} from "../client/methods/proofClient.ts";
import {version} from "./about.ts";
import {Blocks} from "./blocks.ts";
import {place} from "./element.ts";

const EVERY_MS = 2000;
const TIMEOUT_MS = 10_000;

type Server = Pick<ProofClient, "getCoverage" | "getStateRoot">;

/** @param home - URL of the page. @param onChoice - called with the number of a block that was clicked */
export async function followStatus(
  home: URL,
  server: Server,
  onChoice: (block: bigint) => void,
): Promise<never> {
  const blocks = new Blocks(server, onChoice);
  for (;;) {
    if (!document.hidden) await showStatus(home, server, blocks);
    await new Promise(resolve => setTimeout(resolve, EVERY_MS));
  }
}

async function showStatus(home: URL, server: Server, blocks: Blocks): Promise<void> {
  const problem = place("blocks-problem");
  try {
    await showReadiness(home);
    await blocks.show(await server.getCoverage());
    setText(problem, "");
  } catch (error) {
    setText(problem, `The service cannot be read: ${(error as Error).message}`);
  }
}

async function showReadiness(home: URL): Promise<void> {
  const response = await fetch(new URL("readyz", home), {signal: AbortSignal.timeout(TIMEOUT_MS)});
  const {status} = response;
  if (status !== 200 && status !== 503) throw new Error(`/readyz: expected status 200, got ${status}`);
  const said = place("readiness");
  said.className = status === 200 ? "good" : "bad";
  const text = (await response.text()).trim().replaceAll("\n", "; ");
  setText(said, status === 200 ? text : `not ready: ${text}`);
}

/** Does nothing if the text has not changed, so that screen readers read it once. */
function setText(where: HTMLElement, text: string): void {
  if (where.textContent !== text) where.textContent = text;
}

/** Shows version and hash suite. @returns the name of the suite. @throws RpcError */
export async function showService(server: Pick<ProofClient, "getCoverage">): Promise<string> {
  const {suite} = await server.getCoverage();
  setText(place("service"), `${version}: proofs of a layer-2 chain's state, hash suite ${suite}`);
  return suite;
}
