// What the service answers to the pages, by its OpenAPI documents: `node web/types.mjs` writes build/page-types.
import type { components as ContractParts, paths as ContractPaths } from '../../build/page-types/contract.js';
import type { components as SiteParts, paths as SitePaths } from '../../build/page-types/site.js';
import type { Parts } from '../../build/page-types/parts.js';

/** The objects of the answers by their names, for example Schemas['Visit']. */
export type Schemas = ContractParts['schemas'] & SiteParts['schemas'];

/** Calls go to /app, where the website's own operations are, and those of the contract. */
type Own = { [Path in keyof SitePaths as Path extends `/app${infer Called}` ? Called : never]: SitePaths[Path] };
type Paths = Own & Omit<ContractPaths, keyof Own>;

type Success = 200 | 201 | 202;
type Body<Response> = Response extends { content: infer Content } ? Content extends { 'application/json': infer Json } ? Json : Blob : undefined;

/** Whether a path that is asked for is one of the documents', part by part: {id} is any text. A query that only the call knows may follow. */
type IsPath<Asked extends string, Path extends string> =
    Path extends `${infer First}/${infer Rest}`
        ? Asked extends `${infer Begin}/${infer More}` ? IsPart<Begin, First> extends true ? IsPath<More, Rest> : false : false
        : Asked extends `${string}/${string}` ? false : IsPart<Asked, Path>;
type IsPart<Asked extends string, Part extends string> = Part extends `{${string}}` ? true
    : Asked extends Part ? true : Asked extends `${Part}${infer Query}` ? string extends Query ? true : false : false;
type WithoutQuery<Asked extends string> = Asked extends `${infer Path}?${string}` ? Path : Asked;

type Found<Asked extends string> = Asked extends keyof Paths ? Asked
    : { [Path in keyof Paths & string]: IsPath<Asked, Path> extends true ? Path : never }[keyof Paths & string];
type Responses<Method extends string, Path extends keyof Paths> = Path extends unknown
    ? Paths[Path][Lowercase<Method> & keyof Paths[Path]] extends { responses: infer All } ? All : never
    : never;

type Bodies<All> = All extends unknown ? { [Status in keyof All & Success]: Body<All[Status]> }[keyof All & Success] : never;

/** The body that a call answers: anything where only the call knows how the path begins. */
export type Answer<Method extends string, Asked extends string> =
    Asked extends `/v1/${string}` ? Bodies<Responses<Method, Found<WithoutQuery<Asked>>>> : any;

/** The parts of the pages' data. A page has those of its row in src/site/pages.c. */
export type Data = { [Part in keyof Parts]: Answer<'GET', Parts[Part]> };
