/** The parameters of a method, by position: their names, whether they are required, and their schemas. */
import {count} from "../../storage/count.ts";
import type {Call} from "../rpc/envelope.ts";
import {createParamsError, type RpcError} from "../rpc/rpcError.ts";
import type {Schema} from "./schema.ts";

export interface Param {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
}

export class ParamList {
  /** `[call, block]`, for messages. */
  private readonly order: string;
  private readonly requiredCount: number;

  /** @param params - required ones come first */
  constructor(
    private readonly method: string,
    private readonly params: readonly Param[],
  ) {
    this.order = `[${params.map(({name}) => name).join(", ")}]`;
    this.requiredCount = params.filter(({required}) => required).length;
  }

  [Symbol.iterator](): Iterator<Param> {
    return this.params[Symbol.iterator]();
  }

  /** @throws RpcError INVALID_PARAMS for params by name, too many or too few */
  read(params: Call["params"]): readonly unknown[] {
    const list = this.requireArray(params);
    if (list.length > this.params.length)
      throw createParamsError(`params: expected ${this.order}, got ${count(list.length, "element")}`);
    if (list.length < this.requiredCount) throw this.createMissingError(list.length);
    return list;
  }

  /** @throws RpcError INVALID_PARAMS for params by name */
  requireArray(params: Call["params"]): readonly unknown[] {
    if (Array.isArray(params)) return params;
    throw createParamsError(`params of ${this.method}: expected the array ${this.order}, got an object`);
  }

  /** @param at - position of a required parameter */
  createMissingError(at: number): RpcError {
    const {requiredCount} = this;
    const first = requiredCount === 1 ? "the first" : `the first ${requiredCount}`;
    const required = requiredCount === this.params.length ? "all" : first;
    return createParamsError(
      `params[${at}] (${this.params[at]?.name}): expected a value for ${required} of ${this.order}, got nothing`,
    );
  }
}
