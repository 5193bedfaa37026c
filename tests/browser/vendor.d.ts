// What the vendored scripts of pages define.
declare const maplibregl: any;
declare const pmtiles: any;
