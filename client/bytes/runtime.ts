/** Node's built-in modules, in runtimes that have them. */

/** Node from 20.16 on, Deno and Bun have this. An import of such a module would fail in browsers and bundlers. */
interface Runtime {
  readonly process?: {getBuiltinModule?(name: string): unknown};
}

export function builtinModule<Module>(name: string): Module | undefined {
  return (globalThis as Runtime).process?.getBuiltinModule?.(name) as Module | undefined;
}
