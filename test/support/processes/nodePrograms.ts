/** The real nodes that `npm run test:nodes` may have. It names their binaries to the tests in these variables. Not PROOFD_..., which are flags. */
export type NodeProgram = "geth" | "reth" | "op-geth";

export const NODE_VARIABLES: Readonly<Record<NodeProgram, string>> = {
  geth: "TEST_GETH",
  reth: "TEST_RETH",
  "op-geth": "TEST_OP_GETH",
};

export function hasNode(program: NodeProgram): boolean {
  return process.env[NODE_VARIABLES[program]] !== undefined;
}

/** @throws Error if the variable is not set */
export function findNode(program: NodeProgram): string {
  const binary = process.env[NODE_VARIABLES[program]];
  if (binary === undefined)
    throw new Error(`expected the path of ${program} in ${NODE_VARIABLES[program]}: run npm run test:nodes`);
  return binary;
}
