/** The values of config.yaml with the place of each; unknown keys are problems with the nearest valid key. */
import { join } from 'node:path'
import { type Document, isMap, isNode, isScalar, type Pair, type YAMLMap } from 'yaml'
import { CONFIG_FILE } from './home.ts'
import { GROUPS, LEAF_BY_KEY } from './leaves.ts'
import { didYouMean, nearest } from './nearest.ts'
import { type Given, type Origin, type Problem, placeOf } from './problem.ts'
import { readYaml, type YamlFile } from './yaml.ts'

const MARKER_KEY = 'agenthost'

interface Reading {
  readonly document: Document
  readonly place: YamlFile['place']
  readonly given: Given[]
  readonly problems: Problem[]
}

export function readConfigFile(home: string): { given: readonly Given[]; problems: readonly Problem[] } {
  const { document, place, problems } = readYaml(join(home, CONFIG_FILE))
  if (document === undefined || problems.length > 0) return { given: [], problems }
  const reading: Reading = { document, place, given: [], problems: [] }
  readRoot(document.contents, reading)
  return reading
}

function readRoot(root: unknown, reading: Reading): void {
  if (isMap(root)) readMap(root, [], reading)
  else if (plain(root, reading) !== null) complain(reading, root, undefined, 'must be keys with values')
}

function readMap(map: YAMLMap, path: readonly string[], reading: Reading): void {
  for (const pair of map.items) readPair(pair, path, reading)
}

function readPair(pair: Pair, path: readonly string[], reading: Reading): void {
  const name = nameOf(pair)
  const key = [...path, name].join('.')
  const leaf = name.includes('.') ? undefined : LEAF_BY_KEY.get(key)
  if (leaf) reading.given.push({ leaf, value: plain(pair.value, reading), origin: originOf(pair, reading) })
  else if (GROUPS.has(key) && !name.includes('.')) readGroup(pair, [...path, name], reading)
  else if (key === MARKER_KEY) readMarker(pair, reading)
  else complain(reading, pair.key, key, unknownKey(key, name))
}

function readGroup(pair: Pair, path: readonly string[], reading: Reading): void {
  if (isMap(pair.value)) readMap(pair.value, path, reading)
  else if (plain(pair.value, reading) !== null) {
    const key = path.join('.')
    complain(reading, pair.key, key, `${key} must hold further keys: ${keysBelow(key).join(', ')}`)
  }
}

function readMarker(pair: Pair, reading: Reading): void {
  if (plain(pair.value, reading) === 1) return
  complain(reading, pair.key, MARKER_KEY, 'agenthost must be 1, the only format of this file that there is')
}

function unknownKey(key: string, name: string): string {
  const shown = JSON.stringify(key)
  if (key === 'ai.keys') {
    return `unknown key ${shown}; keys of model providers come from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY)`
  }
  if (name.includes('.') && LEAF_BY_KEY.has(key)) return `unknown key ${shown}; write its parts below each other`
  return `unknown key ${shown}${didYouMean(nearest(key, [...LEAF_BY_KEY.keys(), ...GROUPS, MARKER_KEY]))}`
}

function keysBelow(group: string): string[] {
  return [...LEAF_BY_KEY.keys()].filter((key) => key.startsWith(`${group}.`))
}

function nameOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : '?'
}

function plain(node: unknown, reading: Reading): unknown {
  return isNode(node) ? node.toJS(reading.document) : null
}

function originOf(pair: Pair, reading: Reading): Origin {
  return { kind: 'file', ...reading.place(pair.key) }
}

function complain(reading: Reading, node: unknown, key: string | undefined, message: string): void {
  const place = placeOf({ kind: 'file', ...reading.place(node) }, '')
  reading.problems.push({ key, place, message })
}
