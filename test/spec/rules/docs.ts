import type { Rules } from './rule.ts'

/** The description of the API and what it promises to stay. */
export const docsRules = {
  'openapi.served': {
    from: 'spec 4.2, spec 9',
    says: 'GET /api/v1/openapi.json answers the machine-readable description of the API.',
  },
  'openapi.bare': { from: 'decisions 2', says: 'openapi.json is the bare document, without the envelope.' },
  'openapi.version': { from: 'decisions 2', says: 'openapi.json is OpenAPI 3.1.' },
  'openapi.same-schemas': {
    from: 'decisions 2',
    says: 'openapi.json is generated from the same schemas that validate.',
  },
  'openapi.lints': { from: 'decisions 2', says: 'openapi.json lints without errors.' },
  'openapi.exact-routes': { from: 'decisions 2', says: 'openapi.json holds exactly the routes of the running app.' },
  'openapi.public': { from: 'decisions 7', says: 'openapi.json wants no credential in platform mode.' },
  'docs.page': { from: 'decisions 2', says: 'A human page of the API is at /docs.' },
  'docs.no-outside-requests': { from: 'decisions 2', says: 'The page at /docs makes no outside requests.' },
  'versioning.additions': {
    from: 'decisions 2',
    says: 'docs/api.md says: only additions in /api/v1, a breaking change is /api/v2 with Deprecation and Sunset.',
  },
  'versioning.no-clients': {
    from: 'spec 9',
    says: 'docs/api.md says that client libraries for Python, TypeScript and Go are not yet released.',
  },
} as const satisfies Rules
