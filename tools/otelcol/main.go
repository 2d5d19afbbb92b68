// Command otelcol is an OpenTelemetry collector with one way in (OTLP) and one way out (its own
// messages): the peer of the telemetry plugin in tests. scripts/otel builds it.
package main

import (
	"log"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

func parts() (otelcol.Factories, error) {
	in, out := otlpreceiver.NewFactory(), debugexporter.NewFactory()
	return otelcol.Factories{
		Telemetry: otelconftelemetry.NewFactory(),
		Receivers: map[component.Type]receiver.Factory{in.Type(): in},
		Exporters: map[component.Type]exporter.Factory{out.Type(): out},
	}, nil
}

func main() {
	err := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.NewDefaultBuildInfo(), Factories: parts,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()}, DefaultScheme: "file",
		}},
	}).Execute()
	if err != nil {
		log.Fatal(err)
	}
}
