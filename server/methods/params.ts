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

  /** @param list - required ones come first */
  constructor(readonly list: readonly Param[]) {
    this.order = `[${list.map(({name}) => name).join(", ")}]`;
    this.requiredCount = list.filter(({required}) => required).length;
  }

  /** @throws RpcError INVALID_PARAMS for params by name, too many or too few */
  read({name}: {readonly name: string}, params: Call["params"]): readonly unknown[] {
    if (!Array.isArray(params))
      throw createParamsError(`params of ${name}: expected the array ${this.order}, got an object`);
    if (params.length > this.list.length)
      throw createParamsError(`params: expected ${this.order}, got ${count(params.length, "element")}`);
    if (params.length < this.requiredCount) throw this.createMissingError(params.length);
    return params;
  }

  /** @param at - position of a required parameter */
  createMissingError(at: number): RpcError {
    const {requiredCount} = this;
    const first = requiredCount === 1 ? "the first" : `the first ${requiredCount}`;
    const required = requiredCount === this.list.length ? "all" : first;
    return createParamsError(
      `params[${at}] (${this.list[at]?.name}): expected a value for ${required} of ${this.order}, got nothing`,
    );
  }
}
