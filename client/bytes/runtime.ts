/** What the runtime has of Node's own modules. */

/** Of Node from 20.16 on, Deno and Bun. It needs no import, which browsers and bundlers could not follow. */
interface Runtime {
  readonly process?: {getBuiltinModule?(name: string): unknown};
}

/** @returns a module of Node's own; undefined: the runtime has none of this name */
export function builtinModule<Module>(name: string): Module | undefined {
  return (globalThis as Runtime).process?.getBuiltinModule?.(name) as Module | undefined;
}
